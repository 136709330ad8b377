// Package fuzz tests code that coordinates through ZooKeeper. It plays your code on the real
// go-zookeeper client against a simulated server, breaks connections and sessions on purpose,
// judges the run, and reduces a failure to its smallest scenario.
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
// A hunt without a finding proves nothing. [Prove] plays every run of a small script, and so proves
// that the object holds within bounds.
//
// # What a failure looks like
//
// A failure names the violated property and the smallest scenario that violates it, shows the run,
// and ends with the command that shows it again:
//
//	liveness is violated: client a waits for /lock/_c_G2-lock-0000000000, which belongs to a's own
//	session S1 and was left by a's lock (...): a takes it for another's,
//	and nobody will delete it
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
//	to see it again: go test example.org/mylock -run '^TestMyLock$'
//	-zksim.replay=testdata/zksim/TestMyLock/liveness-1f2e3d4c.yaml
//
// # Saved failures
//
// The scenario of a failure is saved as a file in testdata/zksim/TestMyLock. The next test runs
// every file there first. Check the file in: once the bug is fixed, it is a regression test. After
// a change of the code, no request may match the faults of a file. Then go test -v says so: delete
// that file.
//
// # Flags of go test
//
//	-zksim.runs=N       scenarios of the hunt, 300 unless given
//	-zksim.seed=N       its seed, 1 unless given
//	-zksim.clients=N    clients, 3 unless given, 2 with -short; 1 for code whose clients share a
//	                    connection
//	-zksim.goroutines=N  goroutines of each client that share one object; see package scenario.
//	                     0, the default: one or, in some scenarios, two or three
//	-zksim.servers=N    number of servers, or the addresses HOST:PORT,... of a running ensemble;
//	                    see docs/real.md. 0, the default: one or, in some scenarios, three
//	-zksim.shard=I/N    the part of this process in the work of N; see docs/hunting.md
//	-zksim.careless     clients close objects in use and pass contexts that are done
//	-zksim.processes    each scenario is played in a process of its own, for code that keeps
//	                    something in variables of its package; see docs/hunting.md
//	-zksim.unsteady     a finding is not made small; 20 more runs count how often it shows
//	-zksim.html=DIR     a picture of each violation, an HTML page; with -zksim.replay of that run
//	-zksim.replay=FILE  that scenario only, with its whole trace if it is violated
//	-zksim.until=N      that scenario up to line N, and the world as it was then
//	-zksim.step         that scenario line by line, on the terminal
//	-zksim.diff=FILE    where that scenario differs from another one, or from a printed trace
//
// The default of each flag is a variable of the environment, ZKSIM_RUNS, ZKSIM_SEED and so on. Use
// these for go test ./... with packages that do not import this one. ZKSIM_REPLAY has an effect
// only on the test that the file names; others are skipped. With -zksim.replay a test that does not
// know the file's workload fails. If no Test and no Fuzz of a package runs, nothing reads the file
// and go test passes: go test -v shows which test has played it.
//
// With -short the script is smaller.
//
// # What is judged
//
// Package linearizability lists the properties, such as safety and liveness, and defines each. Each
// kind of object has some of them: see the package of its family, linearizability/lock for example.
//
// Two properties belong to every run. A script must not panic, nor end its goroutine as t.Fatal
// does ("panic"). Code must not spin so that virtual time cannot pass, nor lock a mutex that nobody
// can unlock ("frozen").
//
// Liveness is violated by
//
//   - a call that never returns,
//   - a client whose calls all fail for the last virtual minute or longer,
//   - a script that hangs outside of every call,
//   - code that repeats requests or begins goroutines without end. The story says where.
//
// # Memory
//
// While Test or Fuzz plays, it holds a ballast: 64 MB that nobody touches. They take no memory, but
// the garbage collector counts them, and so lets up to 64 MB more garbage gather before it runs. A
// test binary takes 100 to 150 MB at the most, and a third to a half of the processor time. No
// setting of the process changes, and tests that run in parallel share one ballast. With a higher
// GOGC and under a memory limit it is smaller: a sixteenth of GOMEMLIMIT at most. With GOGC=off
// there is none. Each process of go test -fuzz has its own.
//
// # Where to go from here
//
//   - [Fuzz] makes a target for go test -fuzz.
//   - Package object has the kinds of objects with their interfaces, the claims that say which
//     other properties an object promises (fairness, which znodes may stay), and what the clients
//     do.
//   - Package scenario is for an object of another kind: a [scenario.Workload] is a script for a
//     [scenario.Player] and a judge, or a list of [scenario.Invariant]. Test takes it as well. The
//     package also tells what several goroutines and careless clients do.
//   - Package hunt has the searches: the sweep, the strategies, and the search for the smallest
//     scenario.
//   - Two runs of a scenario have equal traces, byte for byte, on any machine and at any
//     GOMAXPROCS. So have two hunts.
//   - RunReal of a [scenario.Scenario] plays it against a real ZooKeeper, with the same faults and
//     the same judge. Two such runs differ.
//
// # Limits
//
//   - The code under test must be deterministic apart from its requests: no state shared between
//     runs, no global math/rand source, no visible map order, no wall clock. A test whose two runs
//     of one scenario differ says so.
//   - Faults are those of a network, of servers and of the processes of clients; package
//     fakezk/fault lists them. There are no faults of disks.
//   - A search that finds nothing is no proof.
//   - Importing this package registers the flags named above. It belongs in test files and
//     commands.
//
// Package scenario lists the limits in full.
package fuzz
