// Package linearizability judges what clients of a coordination recipe saw: it records a [History],
// works out what became of the operations whose outcome the client never learned, and says in words
// which promise was broken, by whom, and at which step.
//
// It does not know how a history was made. The same code judges a simulated run, where the whole of
// the server's log is known, and a run against a real ensemble, where it may not be. The more a
// History holds, the sharper the verdicts:
//
//   - with Server filled in, unknown outcomes are resolved from what the server did, an expiry is
//     told from a bug, and zombie windows are measured;
//   - without it, a client that was told its session expired is given the benefit of the doubt from
//     the call of its lock on, and an unknown operation may have happened or not;
//   - with a [Rest] (the world after the faults stopped), liveness and orphans are judged; without
//     it they are not, and a call that never returned is Unknown.
//
// There is a judge for each kind of object, and each returns a [Report] with one [Verdict] for each
// property that could be judged: [Lock], [ReentrantLock], [RWLock], [Semaphore], [Queue],
// [PriorityQueue], [DelayQueue], [IDQueue], [LockQueue], [Counter], [Value], [Election], [Barrier],
// [DoubleBarrier], [ThresholdBarrier], [TwoPhase], [Membership], [Cache], [IDGenerator], and
// [Object] for any object that you have a sequential model of. The properties:
//
//	safety           two sessions never own the object at once, as the server sees it,
//	                 nobody returns from lock without a znode of its own, and nobody's
//	                 request deletes the znode of a holder before its unlock; a
//	                 transaction is committed with all votes, or aborted for a reason
//	belief           two clients believe they own it at once only inside a zombie window,
//	                 and a lock's own signal of loss is neither wrong nor missing
//	fencing          tokens grow in the order of the grants
//	linearizability  of the resolved history, by porcupine
//	order            FIFO: queue elements, and grants of a lock that claims fairness
//	answers          what was said of who leads or what was decided was so
//	presence         what has joined a group or registry is there, and what has left is not
//	view             what a cache shows of a znode was true, and never goes back
//	delivery         queue elements lost or duplicated; writes acknowledged and not
//	                 applied, or applied twice, or applied and said to have failed
//	liveness         at rest no call is left waiting that should not be, and no take
//	                 gave up or slept on beside an element ([Queue.Patience])
//	orphans          at rest nothing is left that nobody owns
//	herd             watch notifications per release
//
// # Time
//
// The time stamps of a history are step numbers: whatever grows by at least one with every message.
// Two things with the same step are taken to be concurrent. Durations are labels, used for
// measurements and never for order.
//
// # Limits
//
// A zombie window, from the server's end of a session to the moment its client can know, is
// measured and is no violation: no recipe can prevent it. Reads of ZooKeeper are not linearizable;
// [Queue.StaleReads] judges empty polls and peeks as stale reads. The elements of a queue must be
// unique, and a queue starts empty. Deciding linearizability is exponential in the worst case:
// after two seconds the verdict is Unknown. One object is judged at a time.
//
// porcupine starts goroutines and uses the real clock, so judge outside a synctest bubble. Only the
// [Recorder] may be used inside.
//
// # How it is built
//
// What is held until it is released, and lost with the session, is judged by one code (lockCase): a
// lock, a read-write lock, the leases of a semaphore. What tells the kinds apart is a small value
// (lockKind): how many may hold it, who excludes whom, and the sequential model. What takes effect
// at one point of each call goes through JudgeObject: the kind works out what took effect and where
// ([Effect], [Attribute]), and adds what the server's log shows besides.
package linearizability
