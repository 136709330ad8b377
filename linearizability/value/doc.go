// Package value judges objects that are one small value: shared values, registers, counters and
// generators of ids.
//
// The history has the calls of each client, with the value in their input or output: of a counter
// add and get, of a shared value read, write, compare-and-set (cas) and remove.
//
//	recorder.Call("a", ops.Add, "1").OK(linearizability.Result{Output: "1"})
//	recorder.Call("b", ops.Get, "").OK(linearizability.Result{Output: "1"})
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, value.Counter{Path: "/n"}))
//
// Without the events of the server, a call of unknown outcome may have happened or not. With them
// the judge knows, and counts how often each call was applied.
//
// The properties, and how each is violated:
//
//	linearizability  no order of the calls explains their results
//	delivery         a write is lost, applied twice, or applied although it failed; an id
//	                 lies outside of every block that its client has reserved
//	liveness         a call waits for ever
//	orphans          at rest a znode, a session, a watch or a goroutine is left
//	safety           of ids: two calls return the same id
//	order            of ids: a later call returns a smaller id
//
// The claims are
//
//	Claims       a value with versions, those of its znode; Versioned makes inputs and outputs
//	Register     a value without versions; OldNew makes the input of a cas
//	Counter      a number; with MayRepeat, an add may be applied more than once
//	IDGenerator  numbers that never repeat, with the call next; linearizability is not judged
//
// Delivery of a Register is not judged. The example of [Counter] is a history with an add that was
// applied twice.
package value
