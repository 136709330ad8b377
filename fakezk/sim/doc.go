// Package sim runs clients of ZooKeeper in virtual time, under a plan of faults.
//
// A [World] is a description: several clients, one server, and a plan of faults. [World.Run] runs
// it and returns a [trace.Result]: the trace of the run, every change at the server, the state at
// rest, and the clients that got stuck.
//
//	w := sim.World{
//		Seed:    1,
//		Clients: []sim.Actor{{Name: "a", Run: script}, {Name: "b", Run: script}},
//		Plan:    []fault.Fault{{Kind: fault.DropReply, Client: "b", Request: 5}},
//	}
//	result, err := w.Run()
//
// A script is ordinary code: it gets a [Client] with a genuine *zk.Conn.
//
//	func script(ctx context.Context, c *sim.Client) {
//		_, err := c.Conn().Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
//		c.Note("create: %v", err) // a line of the trace
//	}
//
// The same seed and plan give the same trace, byte for byte, on any number of
// processors. Another seed is another order of the messages.
//
// A fakezk.Server is for tests of code when all goes well. A World is for tests of code when the
// network, the server or its session fails at the worst moment. Package fuzz builds on this
// package: it makes plans and judges results.
//
// # Faults
//
// A fault acts on the n-th request or watch notification of a client, or at a time; package fault
// lists the kinds. Result.Missed lists the faults of the plan that found nothing to act on.
//
// # Virtual time
//
// A run is a testing/synctest bubble. Time passes in it only when every goroutine of the bubble
// waits for something in the bubble: a channel, a timer, a condition. Waiting for a mutex, for the
// network or for a channel from outside does not count, and code that spins keeps time from
// passing; Result.Frozen reports both. The clock of a bubble begins at midnight UTC of 2000-01-01.
//
// # Several goroutines of one client
//
// Goroutines of one client that run at the same instant may differ from run to run.
// [Client.Goroutines] starts goroutines whose requests and random numbers are the same in
// each run of a seed.
package sim
