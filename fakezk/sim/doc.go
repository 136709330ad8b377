// Package sim runs clients of ZooKeeper in virtual time, under a plan of faults.
//
// A [World] is a description: several clients, a server, and a plan of faults. [World.Run] runs it
// and returns a [trace.Result]: the trace of the run, every change at the server, the state at the
// end, and the clients that got stuck.
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
// The same seed and plan give the same trace, byte for byte, on any number of processors. Another
// seed gives another order of the messages.
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
// World.Servers is the number of servers of an ensemble. The leader decides every write; each
// server applies it some time later, and answers reads from its own tree until then. A client
// dials the servers in turn. If the leader or a majority goes down, another leader is elected. All
// connections end; the sessions live on.
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
// A run ends, and Result.Runaway names the reason, if a client sends 10,000 requests without a
// pause while its script writes no line and does not call [Client.GetsOn], if a script writes
// 10,000 lines at one instant, or if there are 5,000 goroutines. If code begins goroutines without
// end at one instant, the process ends. Requests and lines of a script of the harness
// ([Actor.Harness]) do not count.
//
// # Several goroutines of one client
//
// The World wakes the goroutines of a client one after the other, each when the one before it has
// come to rest: by a reply, by the end of a connection, by a watch event for several watches.
// Requests of one instant are sent in the order of their content. Two runs may still differ if
// goroutines wake each other, or wait for the same instant, and then send equal requests or race
// for anything in memory; or if a select has several ready cases. [Client.Goroutines] starts
// goroutines with the same requests and random numbers in each run of a seed.
package sim
