// Package queue judges queues: each element that was offered leaves once, in the promised order.
//
// The history of a queue has the calls offer, poll, take and peek of each client. The input of an
// offer is its element, and the output of the others is the element that they returned:
//
//	recorder.Call("a", ops.Offer, "x").OK(linearizability.Result{})
//	recorder.Call("b", ops.Take, "").OK(linearizability.Result{Output: "x"})
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, queue.Claims{Path: "/queue"}))
//
// With the events of the server the judge knows whether a call of unknown outcome took effect.
// Then it finds an element that was removed while its reply was lost.
//
// The properties, and how each is violated:
//
//	linearizability  no order of the calls is that of a queue
//	order            an element overtakes another one
//	delivery         an element is lost, or delivered twice
//	liveness         a call waits for ever, or a take gives up or waits beside an element
//	orphans          at rest a znode, a session, a watch or a goroutine is left
//	safety           of a Locked queue: a client gets an element without its lock
//
// The claims are
//
//	Claims    first in, first out; with Unordered, in any order
//	Priority  the smallest priority leaves first; Prioritized makes the input of an offer
//	Delay     what is due first leaves first, and not before; Due makes the input of an offer
//	WithIDs   elements are also discarded by id; Identified makes the input of an offer
//	Locked    an element stays until it is acknowledged: the calls ack and release; with ComesBack
//	          a delivery has no lock, and ends by itself after a time
//
// MayLose, MayDuplicate and StaleReads are for queues that promise less. The example of [Claims] is
// a history with a lost element.
package queue
