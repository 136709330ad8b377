// Package scenario runs one scenario: some clients use an object through ZooKeeper, faults break
// connections and sessions on purpose, and a judge says whether the object kept its promises.
//
// A test of a lock, a queue or another usual object needs only packages fuzz and object. This
// package is for objects of other kinds, and for tools that run scenarios themselves.
//
// # The parts of a scenario
//
//   - A [Workload] is a script, the function Play, and a judge, the function Judge. Play is called
//     once for each client.
//   - A [Script] says how many clients there are, how many rounds each client plays, and how many
//     goroutines of a client share the object.
//   - A [Player] is one client inside Play. It has the connection, virtual time, draws of random
//     numbers, and a record of calls and results.
//   - A [Scenario] is a workload, a script, a seed, a plan of faults and a schedule. It decides the
//     run: two runs of a scenario have equal traces, byte for byte.
//   - An [Outcome] is the result of a run: the trace, the history and the verdicts.
//   - A story ([Outcome.Story]) describes a violation: the property, the faults, and the important
//     lines of the trace.
//   - Package saved has scenarios as files. A [Catalogue] finds a workload by name.
//
// # A workload for another kind of object
//
// Play calls the object and records each call with [Player.Do], with [Player.Call] if it has no
// result, or with [Record.Begin] if the errors of the object promise that nothing was done:
//
//	Play: func(p *scenario.Player, s scenario.Script) {
//		flag := flags.New(p.Conn(), "/flag")
//		for range s.Rounds {
//			p.Persist(func(int) error { // repeats the call after an error
//				return p.Call("raise", "", flag.Raise)
//			})
//		}
//	},
//
// Judge is a model of package linearizability, or [Invariants] with a function for each rule that
// must hold. With both, every call must return once the faults have stopped, and every script must
// end.
//
// Random decisions come from [Draws.Choose] and waits from [Client.Pause]. Play must not depend on
// a global random source, the wall clock or the state of an earlier run. A rare event that some run
// must reach is a goal: list it in Workload.Sometimes and report it with [Player.Sometimes].
//
// # Several goroutines
//
// Script.Goroutines is the number of goroutines of each client that share one object. It needs a
// workload with Shared set, whose Play is made by [Shared]. If the number is 0, and the object is
// made for several goroutines, a hunt sets it to 2 or 3 in some scenarios; see [Record.Shared].
//
// If the workload has Handles set instead, and a Play made by [Apart], each goroutine has an object
// of its own, on the client's connection. Two locks of one client exclude each other like those of
// two clients, although they share a session. Such a workload has several goroutines in some
// scenarios of each hunt.
//
// Each goroutine is a Player with its own name (a, a.2, a.3), draws and record. All use the
// client's one connection. The judge treats their calls as overlapping calls of one client.
//
// The Go scheduler orders goroutines that run at one instant of virtual time, and could order them
// otherwise in the next run. Therefore goroutines start, sleep and send some microseconds apart,
// each has a crypto/rand source, and a goroutine with a reply waits now and then so that others
// overtake it. For this the code under test must send its requests through the InTurn connection of
// package object's Env. Two goroutines that one watch event wakes must not race for the same
// memory; if they do, the two runs of a scenario differ and the test says so.
//
// # Careless clients
//
// Script.Careless makes clients use an object without care, as programs do:
//
//   - One more goroutine closes the object at any moment, while others wait, hold and read through
//     it, and opens a new one. One close in four has a context that is done or soon done. Calls
//     under way must end within a second, and the object must release its holds.
//   - One in three of the calls with a short context has a context that is done from the start.
//   - In one of three rounds a release is called only once, with a context that is done.
//   - A client calls TryLock, TryRLock or TryAcquire before it waits in one of three rounds, if the
//     object has that method. Other scripts do so in one of six rounds.
//
// Every script closes its object at the end in half of the runs. The judge sees a close as a call.
// An object without a method Close is not closed; nor are elections, double barriers, caches,
// configuration centres, groups and registries. These objects only get calls with contexts that are
// done.
//
// # When a run is not judged
//
// If the Judge returns an error, the run has no outcome: workload and object do not fit. Liveness
// is unknown in a run whose virtual time ended while its clients still made progress. A run that
// froze (Workload.Freeze) has one verdict only: code that spins is a violation, and a mutex that is
// held while its holder waits makes the run undecided.
//
// # Limits
//
//   - The code under test must be deterministic apart from its requests: no state shared between
//     runs, no global math/rand source, no visible map order, no wall clock. A test whose two runs
//     of one scenario differ says so. crypto/rand is seeded in a run and may be used. See
//     sim.World for the rest.
//   - A scenario tests one object.
//   - A call must return when its context is done or its connection is closed. A goroutine that
//     stays is reported as leaked.
//   - Code that spins, or that holds a mutex while it waits for the server, freezes virtual time.
//     Such a run is given up after 20 s of real time, or 5 s if all its goroutines wait.
//   - A panic in a goroutine that the code under test starts ends the process, because Go lets no
//     other goroutine recover it. So do a fatal error of the runtime and os.Exit. The command zksim
//     names and saves the scenario, with the property "crash". A test leaves notes of the scenarios
//     that were under way in testdata/zksim; the next test plays each of them first, alone, and
//     keeps the one that ends the process. Such a scenario is not made small.
//   - The clocks of clients do not drift apart.
//   - Herd is judged only in runs in which no wait was given up.
//   - A search that finds nothing is no proof. It says that these plans of faults, under these
//     schedules, did no harm.
//
// # Several servers
//
// Script.Servers is the number of servers of the ensemble. If it is 0, there is one, and a hunt has
// three in one scenario of eight. With several servers, the seed decides to which one a client
// connects. After a lost connection it connects to the next one. Writes are applied by the leader.
// Another server applies them some milliseconds later, or up to 0.64 s if the seed makes it slow,
// and until then its reads, watches and ephemeral nodes are old. A server refuses a client that has
// seen a newer state than the server has. When the leader restarts, or a majority is down, all
// connections end and another leader is elected. A leader that stands still or is cut off for too
// long is deposed, and believes to lead for a while after: then it answers reads and syncs with old
// data.
//
// # A real server
//
// [Scenario.RunReal] plays a scenario against a real ZooKeeper, with the same faults and the same
// judge. Two such runs differ.
package scenario
