// Package linearizability judges what clients of a coordination recipe saw. A [History] holds their
// calls and, if it is known, what the server did. [Judge] compares it with what the object claims
// to be, and says in words which promise was broken, by which client, and at which step:
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
// [ThresholdBarrier]; [TwoPhase]; [Membership]; [Cache]; [Object] for one with a sequential model
// of yours; and [Anything]. Package ops has the names of their calls.
//
// # What a history holds
//
// The judge does not know how a history was made. The same code judges a simulated run, where all
// of the server's log is known, and a run against a real ensemble, where it may not be. The more is
// known, the sharper are the verdicts:
//
//   - With [History.Server], it is known what became of the operations whose outcome their client
//     never learned, an expiry is no bug, and zombie windows are measured.
//   - Without it, a lock whose client learned that its session has expired may have been lost at
//     any moment since the call of lock, and an operation with an unknown outcome may have happened
//     or not.
//   - With [Leftovers], liveness and orphans are judged. Without them they are not, and a call that
//     never returned makes liveness [Unknown].
//
// # The report
//
// A [Report] has one [Verdict] for each property that could be judged:
//
//	safety           two sessions never own the object at once, as the server sees it; a lock
//	                 is held through a znode of its holder's own, which no client's request
//	                 deletes before the unlock; a transaction is committed with all votes, or
//	                 aborted for a reason
//	belief           two clients believe that they own it at once only inside a zombie window,
//	                 and a lock's own signal of loss is neither wrong nor missing
//	fencing          tokens grow in the order of the grants
//	linearizability  some order of the operations explains what the clients saw
//	order            FIFO: queue elements, and grants of a lock that claims fairness
//	answers          what clients were told of the leader or of a decision was so
//	presence         what has joined a group or registry is there, and what has left is not
//	view             what a cache shows of a znode was true, and never goes back
//	delivery         queue elements lost or duplicated; writes acknowledged and not applied, or
//	                 applied twice, or applied and said to have failed
//	liveness         at rest no call waits that should not, and no take gave up or waited on
//	                 beside an element ([Queue.Patience])
//	orphans          at rest nothing is left that nobody owns
//	herd             watch notifications per release
//
// # Time
//
// The steps of a history are numbers that grow by at least one with every message. Two things with
// the same step are taken to be concurrent. Order is decided by steps; times and durations are for
// measurements, and for what has to happen in time.
//
// # Limits
//
// A zombie window, from the server's end of a session to the moment at which its client can know,
// is measured and is no violation: no recipe can prevent it. Reads of ZooKeeper are not
// linearizable; [Queue.StaleReads] judges empty polls and peeks as stale reads. The elements of a
// queue must be unique, and a queue starts empty. Deciding linearizability is exponential in the
// worst case: after two seconds the verdict is Unknown. One object is judged at a time.
//
// porcupine, which decides linearizability, starts goroutines and uses the real clock, so judge
// outside a synctest bubble. Only the [Recorder] may be used inside.
//
// # How it is built
//
// The files are named by families: history_ is what is judged, check_ what the judges share, and
// lock_, queue_, value_, barrier_, two_phase_, member_ and cache_ are the kinds of objects. A
// history of an object becomes a table once, in which calls and znodes have been put together; each
// property is a function of the table.
//
// What is held until it is released, and lost with the session, has one table (lockTable): a lock,
// the leases of a semaphore, a leadership. A small value (lockKind) tells the kinds apart: how many
// may hold it, who excludes whom, and the sequential model. What takes effect at one point of each
// call is an [Object]: the kind works out what took effect and where ([Effect], [Attribute]), and
// adds what the server's log shows besides.
package linearizability
