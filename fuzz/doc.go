// Package fuzz hunts for bugs in code that coordinates through ZooKeeper. It
// plays a workload on the real go-zookeeper client against a simulated server,
// breaks connections and sessions on purpose, judges what happened, and makes a
// failure as small as it gets.
//
// A test of your own lock:
//
//	package mylock_test
//
//	import (
//		"testing"
//
//		"github.com/go-zookeeper/zk"
//		"github.com/zksim/zksim/fuzz"
//	)
//
//	func TestMyLock(t *testing.T) {
//		fuzz.TestLock(t, func(c *zk.Conn) fuzz.Locker { return mylock.New(c, "/lock") })
//	}
//
// [TestLock] runs the lock without faults, with every single fault at every
// protocol step (a sweep), and then lets several strategies hunt. When a
// property is violated it prints the story, the smallest plan of faults that
// shows it, and the go test command that shows it again. [TestQueue] does the same
// for a queue, its likes for what else there are recipes of, and [Test] for any code.
//
// The scenario of a failure is saved as testdata/zksim/TestMyLock/liveness-1f2e3d4c.yaml,
// say, beside those of others. All that a test has there is tried first the next time,
// and what is mended stays: a regression test, to be checked in. With -v go test tells
// of one whose faults strike nothing any more, as the code sends other requests now:
// delete it then.
//
// Flags of go test steer all this:
//
//	-zksim.runs=N       scenarios of the hunt, 300 unless given
//	-zksim.seed=N       its seed, 1 unless given
//	-zksim.goroutines=N      goroutines of each client that share one object; see below
//	-zksim.careless        clients close objects in use, call with done contexts, try before they wait
//	-zksim.replay=FILE  that scenario only, with its whole trace if it is violated
//
// With -short the script is a smaller one.
//
// # In parts
//
//   - A [Workload] is what clients do with one object under test, and what it
//     claims to be: [LockWorkload], [QueueWorkload], built in ([Workloads]), or for
//     an object of any other kind made of a script for a [Player] and a judge.
//   - A [Scenario] adds the number of clients and rounds, a seed, which decides
//     the schedule, and a plan of faults (fakezk.Fault). Run gives an [Outcome].
//   - [RunSweep] tries all single faults, a [Hunt] whatever its strategies propose. A
//     sweep that survives N of N points is a statement about one schedule and one fault
//     at a time; a hunt is about many schedules and a few faults at a time.
//   - A [Strategy] decides what a Hunt tries. [Strategies] lists those there are: single
//     faults, pairs, random plans, random priorities of messages, all orders of the
//     messages of a tiny script, and mutations of what has shown new behaviour. By
//     default they take turns.
//   - RunReal of a Scenario plays it against a real ZooKeeper, with the same faults
//     and the same judge, but no two runs alike.
//   - [Minimize] makes a violating scenario small and readable.
//   - A [ScenarioFile] keeps a scenario with what is expected of it: [FileOf],
//     [LoadScenario], [ParseScenario]. Its Check is a regression test.
//
// Two runs of a scenario are equal to the byte of their traces, on any machine
// and at any GOMAXPROCS. The same holds for Hunt, whose scenarios run on all cores, and Minimize.
//
// # Properties
//
// Those of package linearizability: safety, belief, fencing, linearizability,
// order, answers, presence, view, delivery, liveness, orphans, herd. Besides, a run is violated if a script
// panics or ends its goroutine, as t.Fatal does ("panic"), or if no virtual time can
// pass ("frozen"). A client whose calls all fail until the end, for a virtual minute
// at least, violates liveness as one does that never returns; so does, whatever the
// judge, a script that hangs outside of every call: the story says where.
//
// # Objects of other kinds
//
// A Workload whose fields you fill in yourself tests what this package has never
// heard of. Play is what one client does: it calls the object between
// [Player.Begin] and the end of that [Call], or by [Player.Do]; tries again by
// [Player.Persist]; gives up early by [Player.Hasty] or [Player.Within]; and holds by
// [Player.Hold].
// Everything it decides by chance is drawn by [Player.Choose], so that a run can be
// repeated. Judge hands the [Evidence] to a judge of package linearizability, which
// has one for most kinds, and [linearizability.Object] for one that you bring a
// sequential model of; or it is made of [Invariants]. What rare thing a test is about, a
// script tells by [Player.Sometimes], and [Workload.Sometimes] says that it must have
// happened in some run. A workload that records no call, and of which nothing else is
// asked, is an error. [Test] then does for it what TestLock does for a lock, and
// [Fuzz] makes a target for go test -fuzz.
//
// # What the clients do
//
// With a lock, each client locks, holds for some 5 to 45 ms, now and then for
// longer than a session lives, and unlocks; after an error it tries again. One
// Lock in six has a context of 10 to 110 ms. With a queue, each client offers an
// element and then takes one, twice a round; of several clients the first only
// offers and the second only takes. A failed offer is not repeated; some takes
// are polls, follow a peek, or have a context of a few milliseconds at first.
// With queues of other kinds they do the same: elements have priorities, are due
// within three seconds, are discarded by their ids now and then, or are kept like
// a lock before they are acknowledged or, one in five, given back.
// If the code under test does nothing at the path of its claims, the run is
// refused with an error instead of being judged; if the virtual time of a run ends
// while its clients still get on, liveness is unknown.
// Sessions are asked for 4 s, the least that a server with a tick of 2 s grants.
//
// # Several hands, and rough ones
//
// Two things of a [Script] make clients behave as programs do, and not as tests. Both
// go with every plan and schedule, and no other kind of object is needed for them.
//
// Hands is how many goroutines of a client use one object at the same time, where the
// object may be used so ([Workload.Shared]). Each hand is a [Player] with a name, dice
// and a record of its own (a, a.2, a.3), on the client's one connection; the judge takes
// their calls for calls of one client that overlap. What several goroutines do at one
// instant of virtual time is left to the scheduler, so there must be no such instant:
// hands begin, sleep and send some microseconds apart, draw from a crypto/rand of their
// own each, and dawdle now and then when they have a reply, so that others overtake. The
// code under test keeps to that by a connection of [InTurn], as the built-in workloads do.
// Two hands that a watch wakes at once must not race for something in memory; the second
// run of a scenario shows it if they do.
//
// Rough makes clients use an object without care. One hand more closes it at any moment,
// while others wait, hold and read through it, and puts a new one in its place, in one of
// four cases with a context that is done or soon will be: what was under way must end
// within a second, and what was held must be given back. Of the calls with a short
// context one in three has one that is done from the start; what gives something back
// is called with such a context, and only once, in one of three rounds; a lock or
// lease is tried for before it is waited for in one of three rounds, if it has TryLock,
// TryRLock or TryAcquire. [ops.Close] is what the judges see of a close. An
// object without a method Close is not closed, nor are elections, double barriers, caches,
// configuration centres, groups and registries: of these only calls get done contexts.
//
// # Limits
//
//   - The code under test must be deterministic but for its requests: no state
//     shared between runs, no global math/rand source, no map order that can be
//     seen, no wall clock. A test that finds two runs of one scenario to differ
//     says so. crypto/rand is seeded in a run and may be used. See fakezk.World
//     for the rest.
//   - One object is tested at a time.
//   - It must leave when its context is done or its connection is closed. A
//     goroutine that does not is reported as leaked. Code that spins, or holds
//     a mutex while it waits for the server, freezes virtual time; such a run is
//     given up after 20 s of real time, and reported as frozen.
//   - A panic in a goroutine that the code under test starts itself ends the process,
//     with a stack but without a scenario: Go lets nobody else recover it. The same
//     flags end it again. To get the scenario, let that goroutine begin with
//     defer func() { if recover() != nil { select {} } }(): it is then reported as
//     leaked, with a story, the smallest plan and the command that repeats it.
//   - Faults are those of one server and its network: no lagging followers and no
//     failover, and the clients' clocks do not drift apart. zk.ErrNoServer does not occur.
//   - Herd is judged only in runs in which no wait was given up. Fairness, herd
//     and what may stay at rest are judged as claimed; see [LockClaims] and
//     [QueueClaims]. The zero values claim mutual exclusion, and FIFO order with
//     exactly-once delivery.
//   - That nothing was found proves nothing, but that these plans under these
//     schedules did no harm.
//   - Importing this package registers the flags named above, and so it belongs
//     into test files and commands.
package fuzz
