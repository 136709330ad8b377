// Package barrier judges barriers: clients wait until a barrier is removed, or until enough of them
// have come.
//
// The history has the calls of each client. The input of set (of a threshold barrier) and of enter
// is the number of members:
//
//	call := recorder.Call("a", ops.Enter, "2")
//	... enter ...
//	call.OK(linearizability.Result{Session: session})
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, barrier.Double{Path: "/barrier"}))
//
// A client whose call returned an error may still be present: it is until its ephemeral znodes are
// deleted. The events of the server show them.
//
// The properties, and how each is violated:
//
//	safety           a client enters or passes before enough members are present, or leaves
//	                 a double barrier before the others
//	linearizability  no order of the calls is that of a barrier
//	delivery         a set or remove is applied twice, or although it failed
//	liveness         a client waits for ever; it gives up although it could pass (if Patience);
//	                 or one member enters and another one gives up
//	orphans          at rest a znode, a session, a watch or a goroutine is left
//
// The claims are
//
//	Claims     a barrier that is up until it is removed: set, remove, wait and isset.
//	           All but safety is judged
//	Double     members enter together and leave together: enter and leave.
//	           Safety, liveness and orphans are judged
//	Threshold  a set says how many must wait before all pass: set and wait.
//	           All but linearizability is judged
package barrier
