// Package sim runs clients of ZooKeeper in virtual time, under a plan of faults.
//
// A [World] is a description: several clients, a server, and a plan of faults. [World.Run] runs
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
// Use a fakezk.Server for unit tests with single faults. Use a World to run several clients under
// many faults and in many orders of messages. Package fuzz builds on this package: it makes plans
// and judges results.
//
// # Faults
//
// A fault acts on the n-th request or watch notification of a client, or at a time; package fault
// lists the kinds. Result.Missed lists the faults of the plan that found nothing to act on.
//
// # Several servers
//
// World.Servers is the number of servers of an ensemble. The leader applies every write; each
// follower applies it some time later, and answers reads from its own tree until then. A client
// dials the servers in turn. If the leader goes down, or a majority, another leader is elected: all
// connections end, no session does.
//
// # Virtual time
//
// A run is a testing/synctest bubble. Its time advances when every goroutine of the bubble is
// blocked on a channel, a timer or a condition that was made in the bubble. A goroutine that waits
// for a mutex, for the network or for a channel from outside, or that spins, stops the time;
// Result.Frozen reports it. In a program built by zksim go ([Overlaid]) time passes for mutexes,
// the network is the World's, and goroutines, maps and numbers are equal in each run. The clock of
// a bubble begins at midnight UTC of 2000-01-01.
//
// # Code without end
//
// A client that sends 10,000 requests without a pause and without a line of a script, a script that
// writes 10,000 lines at one instant, and 5,000 goroutines end a run: Result.Runaway. Goroutines
// that begin without end at one instant leave no moment to end the run: they end the process.
//
// # Several goroutines of one client
//
// Goroutines of one client that run at the same instant may differ from run to run.
// [Client.Goroutines] starts goroutines with the same requests and random numbers in each run of a
// seed.
package sim
