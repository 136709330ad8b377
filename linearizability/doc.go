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
//	fmt.Print(linearizability.Judge(h, nil, linearizability.Lock{Path: "/lock"}))
//
// There are claims for each kind of object: [Lock], [ReentrantLock], [RWLock], [Semaphore],
// [RevocableLock] and [Election]; [Queue], [PriorityQueue], [DelayQueue], [IDQueue] and
// [LockQueue]; [Counter], [Value] and [IDGenerator]; [Barrier], [DoubleBarrier] and
// [ThresholdBarrier]; [TwoPhase]; [Membership]; [Cache]; [Object] for an object with your own
// sequential model; and [Anything]. Package ops has the names of their calls.
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
//	fencing          tokens grow in the order of the grants, and stay the same in a hold
//	linearizability  some order of the operations explains the results
//	order            FIFO: queue elements, and grants of a lock that claims fairness
//	answers          the reported leader or decision is correct
//	presence         joined instances of a group or registry exist, others do not
//	view             a cache shows only states that a znode had, in their order
//	delivery         no queue element is lost or doubled; no write is acknowledged and not
//	                 applied, applied twice, or applied and reported as failed
//	liveness         at the end no call is blocked without a reason, and no take gave up or
//	                 waited while there was an element ([Queue.Patience])
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
// are not linearizable; [Queue.StaleReads] judges empty polls and peeks as stale reads. The
// elements of a queue must be unique, and a queue starts empty. Deciding linearizability is
// exponential in the worst case: after two seconds the verdict is Unknown. One object is judged at
// a time.
//
// porcupine, which decides linearizability, starts goroutines and uses the real clock, so judge
// outside a synctest bubble. Only the [Recorder] may be used inside.
//
// # How it is built
//
// The files are named by families: history_ is the input, check_ is shared by the judges, and
// lock_, queue_, value_, barrier_, two_phase_, member_ and cache_ are the kinds of objects. The
// history of an object is turned into a table once, which matches calls with znodes. Each property
// is a function of the table.
//
// Objects that clients hold until release, and lose with the session, share one table (lockTable):
// locks, leases of a semaphore, leadership. A small value (lockKind) tells the kinds apart: the
// number of holders, the conflicts between them, and the sequential model. An object with calls
// that take effect at one point is an [Object]. Its kind finds the effects and their steps
// ([Effect], [Attribute]), and adds verdicts from the server's log.
package linearizability
