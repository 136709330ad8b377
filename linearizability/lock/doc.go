// Package lock judges what clients hold for a while and lose with their session: locks of all
// kinds, leases of a semaphore, and leadership.
//
// The history of a lock has the calls lock and unlock of each client. The result of a lock has the
// client's session and the fencing token, which is the czxid of the client's znode. The events of
// the server sharpen the verdict, and notices say when a client learned of a loss:
//
//	call := recorder.Call("a", ops.Lock, "")
//	... lock ...
//	call.OK(linearizability.Result{Token: czxid, Session: session})
//	...
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, lock.Claims{Path: "/lock", Fair: true}))
//
// The properties, and how each is violated:
//
//	safety           two clients own the lock at once, or the znode of the holder is deleted
//	belief           two clients believe at once that they hold it, or the signal of loss is wrong
//	fencing          a token is missing, or is not greater than those before it
//	linearizability  no order of the calls is that of a lock
//	liveness         a call waits for ever, or an unlock leaves the lock locked
//	orphans          at rest a znode, a session, a watch or a goroutine is left
//	order            if Fair: a client overtakes another one that waits
//	herd             if MaxHerd: one release fires more watch notifications
//	answers          of an election: a client is told of a leader that did not lead
//	delivery         of a revocable lock: the owner misses a request, or reports one that is none
//
// The claims are
//
//	Claims     a lock; with Handles, a client may have several, which exclude each other
//	Reentrant  a lock that its holder may lock again
//	ReadWrite  many readers or one writer
//	Revocable  a lock whose owner is asked to give it up
//	Semaphore  a number of leases, whose tokens need not grow
//	Election   a leader, with the calls lead, resign and leader
//
// The example of [Claims] is a history with two owners. Package linearizability explains zombie
// windows, and docs/histories.md how to record a history.
package lock
