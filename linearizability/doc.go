// Package linearizability checks a recorded history of calls against the promises of an object. A
// [History] holds the calls and, if known, the changes at the server. [Judge] returns a verdict for
// each promise, and names the client and the step of a violation:
//
//	recorder := linearizability.NewRecorder(step, now)
//	call := recorder.Call("a", ops.Lock, "")
//	... lock ...
//	call.OK(linearizability.Result{Token: czxid, Session: session})
//
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, lock.Claims{Path: "/lock"}))
//
// Each family of objects has a package, with claims for each of its kinds:
//
//	lock      locks, also re-entrant, read-write and revocable ones; semaphores; elections
//	queue     FIFO, priority and delay queues; queues with ids; queues with locked elements
//	value     shared values, registers, counters, generators of ids
//	barrier   barriers, double barriers, threshold barriers
//	member    groups and registries
//	twophase  two-phase commit
//	cache     caches of znodes
//	custom    objects of your own: with a sequential model, or without known promises
//
// Package ops has the names of their calls. Package record writes and reads histories of production
// code, and package foreign reads those of Jepsen and porcupine.
//
// # The content of a history
//
// The judge does not know how a history was made. The same code judges a simulated run, with the
// whole server log, and a run against a real ensemble, perhaps without a log. More data gives
// sharper verdicts:
//
//   - With [History.Server], the judge knows the outcome of every request and the time of every
//     expiry.
//   - Without it, a lock may have been lost at any moment between the call of lock and the client's
//     notice of the expiry, and an operation with an unknown outcome may have happened or not.
//   - With [Leftovers], liveness and orphans are judged. Without them they are not, and a call that
//     never returned makes liveness [Unknown].
//
// # The report
//
// A [Report] has one [Verdict] for each property that could be judged:
//
//	safety           at the server, the object never has two owners at the same time;
//	                 the holder of a lock has a znode, and no request deletes it before the
//	                 unlock; a transaction is committed with all votes, or aborted for a reason
//	belief           two clients believe at the same time that they own the object only inside
//	                 a zombie window (below); the signal of loss is neither wrong nor missing
//	fencing          every grant has its token; tokens grow in the order of the grants, and stay
//	                 the same in a hold
//	linearizability  some order of the operations explains the results (porcupine)
//	order            FIFO: queue elements, and grants of a lock that claims fairness
//	answers          the reported leader or decision is correct
//	presence         joined instances of a group or registry exist until they leave, others do not
//	view             a cache shows only states that a znode had, in their order
//	delivery         no queue element is lost or doubled; no write is acknowledged and not
//	                 applied, applied twice, or applied and reported as failed
//	liveness         at the end no call is blocked without a reason; no take gave up or
//	                 waited while there was an element (Patience of a queue); an unlock that
//	                 reports success gives the lock up; no livelock of a free lock; if one member
//	                 has entered a double barrier, all members present at that time enter; if
//	                 claimed, all waiters at the removal of a barrier pass
//	orphans          at the end no znode, session, watch or goroutine is left without need
//	herd             watch notifications per release stay below the claimed limit
//
// # Time
//
// The steps of a history are numbers that grow by at least one with every message. Two events with
// the same step count as concurrent. Steps decide the order; times and durations serve for
// measurements and for time limits.
//
// # Limits
//
// A zombie window is the time from the expiry of a session at the server to the moment at which its
// client can know. It is measured, but no violation: no recipe can prevent it. Reads of ZooKeeper
// are not linearizable: with the claim StaleReads, a call that only reads must show a state of the
// server's log that is no older than what its client has done and seen before. The elements of a
// queue.Locked must be unique, and a queue starts empty. One object is judged at a time.
//
// # Linearizability
//
// porcupine (github.com/anishathalye/porcupine) decides it: for locks of all kinds, elections,
// queues, counters, values, barriers and every custom.Object. It searches for an order of the
// operations that the sequential model of package model allows. With the server's log it first
// searches among the orders that agree with the steps at which the server applied offers and
// releases. Each of these explains the calls, too, and there are few. If it finds none, it searches
// all orders of the calls.
//
// The search is exponential in the worst case. It ends after 20,000 steps of the model, some ten
// milliseconds, so the verdict is a function of the history and not of the machine. Then the likely
// order decides: the order of the server's log. If it does not explain the history, the verdict is
// Unknown. Measured in hunts, in steps of the model for one history (half of the histories need
// less than the first number, all but one in a hundred less than the second):
//
//	clients and rounds      3, 2        4, 4          8, 8             26, 2
//	lock                  21, 26     65, 101      510, 641      1,041, 3,788
//	read-write lock       25, 39     89, 145  3,762, 4,839          too many
//	semaphore             15, 61     58, 192    612, 2,127   1,284, too many
//	queue                 15, 24      50, 78      560, 694      2,343, 5,849
//	priority queue        18, 27     64, 103    652, 1,161      1,860, 5,139
//	delay queue           21, 33      68, 93      625, 815   1,331, too many
//
// So the likely order decides for read-write locks of many clients, and rarely for other kinds.
// Readers that share a lock can have taken it in too many orders.
//
// Two other checks confirm the answer of porcupine: the bad patterns of queues and the likely
// order. Judge panics if they contradict it: if the likely order is valid but porcupine
// finds none, or if a pattern forbids every order but porcupine finds one. Then zksim has a bug.
//
// # How it is built
//
// This package has the values: histories, verdicts, reports. Package internal/judging has what the
// families share, and each family has a package. It turns the history of an object into a table
// once, which matches calls with znodes. Each property is a function of the table.
//
// Objects that clients hold until release, and lose with the session, share the table of package
// lock: locks, leases of a semaphore, leadership. A small value (kind) tells them apart: the number
// of holders, the conflicts between them, and the sequential model. An object with calls that take
// effect at one point is a custom.Object. Its kind finds the effects and their steps, and adds
// verdicts from the server's log.
package linearizability
