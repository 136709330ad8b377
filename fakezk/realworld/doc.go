// Package realworld runs clients against real ZooKeeper servers, in real time, under the faults of
// package sim. Use it to confirm the result of a simulation.
//
//	w := realworld.World{
//		Servers: []realworld.Server{server}, // a running ZooKeeper for this test alone
//		Pace:    4,                          // four seconds of the World in one of the clock
//		Clients: []realworld.Actor{{Name: "a", Run: script}},
//		Plan:    []fault.Fault{{Kind: fault.DropReply, Client: "a", Request: 5}},
//	}
//	result, err := w.Run(ctx)
//
// A proxy stands between each client and the server; the faults act in it. The [trace.Result] has
// the shape of a simulated one, so the same judges judge it. The server's changes come from its
// transaction log. [World] lists the limits of a real world.
//
// [At] is a server that somebody else runs. It gives no log, and is never killed.
package realworld
