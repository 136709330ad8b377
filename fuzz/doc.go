// Package fuzz tests code that coordinates through ZooKeeper. It plays your code on the real
// go-zookeeper client against a simulated server, breaks connections and sessions on purpose,
// judges what happened, and makes a failure as small as it gets.
//
// # A test of your own lock
//
// A test needs a function that makes the lock on a connection:
//
//	package mylock_test
//
//	import (
//		"testing"
//
//		"github.com/zksim/zksim/fuzz"
//		"github.com/zksim/zksim/fuzz/object"
//	)
//
//	func TestMyLock(t *testing.T) {
//		fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
//			return mylock.New(env.Conn, env.Path)
//		}))
//	}
//
// The lock has the methods of [object.Locker]: Lock and Unlock, each with a context. Package object
// has such an interface for each kind of object: queues, elections, semaphores, barriers, caches
// and more.
//
// [Test] runs the lock without faults, then with every single fault at every protocol step (a
// sweep), and then lets several strategies search (a hunt). No ZooKeeper is needed, and time is
// virtual, so that a test of a thousand scenarios takes seconds.
//
// # What a failure looks like
//
// A failure names the violated property and the smallest scenario that violates it, tells what
// happened, and ends with the command that shows it again:
//
//	liveness is violated: client a waits for /lock/_c_G2-lock-0000000000, which belongs to a's own
//	session S1 and was left by a's lock (...): nobody will delete it
//
//	  lock TestMyLock, clients: 1, rounds: 1, seed: 1
//	  fault: drop-request client=a op=getChildren2 request=1
//
//	what happened (step, virtual time, who):
//
//	    1     0.001179s  a        calls lock
//	   14     0.014204s  a        -> #4 create ephemeral sequential /lock/_c_G2-lock-: ok ...
//	   17     0.015096s  fault    drop-request client=a op=getChildren2 request=1 hits a's #5 ...
//	   18     0.015336s  a        connection 1: reset
//	   20     0.015336s  a        lock fails: client lock /lock: zk: connection closed
//	   25     0.115336s  a        calls lock
//	    ...
//
//	to see it again, with the whole trace: go test -run '^TestMyLock$'
//	-zksim.replay=testdata/zksim/TestMyLock/liveness-1f2e3d4c.yaml
//
// # Saved failures
//
// The scenario of a failure is saved as a file in testdata/zksim/TestMyLock. Every file there is
// tried first the next time. Check it in: once the bug is mended, it is a regression test. When the
// code sends other requests now, so that the faults of a file strike nothing any more, go test -v
// says so: delete that file.
//
// # Flags of go test
//
//	-zksim.runs=N       scenarios of the hunt, 300 unless given
//	-zksim.seed=N       its seed, 1 unless given
//	-zksim.goroutines=N      goroutines of each client that share one object; see below
//	-zksim.careless        clients close objects in use, call with done contexts, try before they wait
//	-zksim.replay=FILE  that scenario only, with its whole trace if it is violated
//
// With -short the script is a smaller one.
//
// # What is judged
//
// The properties are safety, belief, fencing, linearizability, order, answers, presence, view,
// delivery, liveness, orphans and herd; package linearizability says what each means. Besides, a
// run is violated if a script panics or ends its goroutine, as t.Fatal does ("panic"), or if no
// virtual time can pass ("frozen"). A client whose calls all fail until the end, for a virtual
// minute at least, violates liveness as one does that never returns. So does a script that hangs
// outside of every call: the story says where.
//
// # Going on from here
//
//   - [Fuzz] makes a target for go test -fuzz.
//   - Package object has the kinds of objects, and the claims that say which properties an object
//     promises besides: fairness, what may stay at rest, and so on.
//   - Package scenario is for an object of a kind of your own: a [scenario.Workload] is a script
//     for a [scenario.Player] and a judge, or a few [scenario.Invariant]. Test takes it as well.
//   - Package hunt has the searches: the sweep, the strategies, and the making small.
//   - Two runs of a scenario are equal to the byte of their traces, on any machine and at any
//     GOMAXPROCS. So are two hunts.
//   - RunReal of a [scenario.Scenario] plays it against a real ZooKeeper, with the same faults and
//     the same judge, but no two runs alike.
//
// # What the clients do
//
// With a lock, each client locks, holds for some 5 to 45 ms, now and then for longer than a session
// lives, and unlocks; after an error it tries again. One Lock in six has a context of 10 to 110 ms.
// With a queue, each client offers an element and then takes one, twice a round; of several clients
// the first only offers and the second only takes. A failed offer is not repeated; some takes are
// polls, follow a peek, or have a context of a few milliseconds at first. With queues of other
// kinds they do the same: elements have priorities, are due within three seconds, are discarded by
// their ids now and then, or are kept like a lock before they are acknowledged or, one in five,
// given back. If the code under test does nothing at the path of its claims, the run is refused
// with an error instead of being judged; if the virtual time of a run ends while its clients still
// get on, liveness is unknown. Sessions are asked for 4 s, the least that a server with a tick of 2
// s grants.
//
// # Several goroutines, and careless ones
//
// Two things of a [scenario.Script] make clients behave as programs do, and not as tests. Both go
// with every plan and schedule, and no other kind of object is needed for them.
//
// Goroutines is how many goroutines of a client use one object at the same time, where the object may be
// used so (Shared of its workload). Each hand is a [scenario.Player] with a name, dice and a record
// of its own (a, a.2, a.3), on the client's one connection; the judge takes their calls for calls
// of one client that overlap. What several goroutines do at one instant of virtual time is left to
// the scheduler, so there must be no such instant: hands begin, sleep and send some microseconds
// apart, draw from a crypto/rand of their own each, and dawdle now and then when they have a reply,
// so that others overtake. The code under test keeps to that by a connection of InTurn of
// [object.Env], as the built-in workloads do. Two hands that a watch wakes at once must not race
// for something in memory; the second run of a scenario shows it if they do.
//
// Careless makes clients use an object without care. One hand more closes it at any moment, while
// others wait, hold and read through it, and puts a new one in its place, in one of four cases with
// a context that is done or soon will be: what was under way must end within a second, and what was
// held must be given back. Of the calls with a short context one in three has one that is done from
// the start; what gives something back is called with such a context, and only once, in one of
// three rounds; a lock or lease is tried for before it is waited for in one of three rounds, if it
// has TryLock, TryRLock or TryAcquire. The judges see a close as a call of its own. An object
// without a method Close is not closed, nor are elections, double barriers, caches, configuration
// centres, groups and registries: of these only calls get done contexts.
//
// # Limits
//
//   - The code under test must be deterministic but for its requests: no state shared between runs,
//     no global math/rand source, no map order that can be seen, no wall clock. A test that finds
//     two runs of one scenario to differ says so. crypto/rand is seeded in a run and may be used.
//     See fakezk.World for the rest.
//   - One object is tested at a time.
//   - It must leave when its context is done or its connection is closed. A goroutine that does not
//     is reported as leaked. Code that spins, or holds a mutex while it waits for the server,
//     freezes virtual time; such a run is given up after 20 s of real time, and reported as frozen.
//   - A panic in a goroutine that the code under test starts itself ends the process, with a stack
//     but without a scenario: Go lets nobody else recover it. The same flags end it again. To get
//     the scenario, let that goroutine begin with defer func() { if recover() != nil { select {} }
//     }(): it is then reported as leaked, with a story, the smallest plan and the command that
//     repeats it.
//   - Faults are those of one server and its network: no lagging followers and no failover, and the
//     clients' clocks do not drift apart. zk.ErrNoServer does not occur.
//   - Herd is judged only in runs in which no wait was given up. Fairness, herd and what may stay
//     at rest are judged as claimed; see [object.LockClaims] and [object.QueueClaims]. The zero
//     values claim mutual exclusion, and FIFO order with exactly-once delivery.
//   - That nothing was found proves nothing, but that these plans under these schedules did no
//     harm.
//   - Importing this package registers the flags named above, and so it belongs into test files and
//     commands.
package fuzz
