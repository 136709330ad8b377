// Package fakezk is a ZooKeeper in the process of the test, for code that uses
// the go-zookeeper client: the genuine client talks the genuine protocol, and
// there is no Java, no port and no waiting.
//
// # A server for unit tests
//
// One line to start, none to stop:
//
//	func TestMine(t *testing.T) {
//		conn := fakezk.Start(t).Connect(t) // a *zk.Conn with a session
//		...
//	}
//
// [Start] gives a [Server], [Server.Connect] a connected client, and both end
// with the test. Outside of tests, or for connections of your own making, use
// [New] and [Server.Dialer]. [Server.Serve] accepts TCP from clients in any
// language.
//
// A Server has two doors. The wire is for the code under test. Direct calls are
// for the test: [Server.Put] and [Server.Remove] change nodes as another client
// would, [Server.Tree], [Server.Sessions] and [Server.Watches] look at what is
// there, [Server.Inject] arms a fault, [Server.Snapshot] and [Server.Load] carry a tree, and [Server.ExpireSession], [Server.DropConnections], [Server.Stop] and
// [Server.Restart] make happen what is hard to wait for.
//
// Everything works inside a testing/synctest bubble: start the server in the
// bubble, and a session's ten seconds pass in microseconds. No goroutine stays
// behind once the test's cleanup is done.
//
// # A world for hunting bugs
//
// A [World] runs several clients against one server in virtual time, under a
// plan of faults, and returns a [Result]: the trace of all that happened, every
// change at the server, what was left at rest, who got stuck. The same seed and
// plan give the same trace, byte for byte, on any number of processors; another
// seed is another schedule.
//
//	w := fakezk.World{
//		Seed:    1,
//		Clients: []fakezk.Actor{{Name: "a", Run: script}, {Name: "b", Run: script}},
//		Plan:    []fakezk.Fault{{Kind: fakezk.DropReply, Client: "b", Request: 5}},
//	}
//	result, err := w.Run()
//
// Use a Server to test that code does what it should, and a World to learn
// whether it still does when the network, the server or its session fails at
// the worst moment.
//
// A [RealWorld] is a World around a real ZooKeeper, in real time: the same clients
// and faults, by a proxy, and a Result of the same shape. It is there to check that
// what holds in a World holds outside of it.
//
// # Faults
//
// A [Fault] is data: what goes wrong ([FaultKinds] lists the kinds) and where,
// as the n-th request or the n-th watch notification of a client, or as a
// virtual time. It prints as one line, which [ParseFault] reads:
//
//	drop-reply client=b request=5
//	stall 3s client=a op=getChildren2 request=1
//	restart 200ms at=2s
//
// A fault whose coordinates match nothing in a run is reported in
// Result.Missed. It never passes silently.
//
// # Virtual time
//
// In a bubble time passes only when every goroutine of it waits for something
// in the bubble: a channel, a timer, a condition made there. Waiting for a
// mutex, for the network or for a channel made outside does not count, and code
// that spins keeps time from passing at all; a World reports both as
// Result.Frozen. The clock of a bubble begins at midnight UTC of 2000-01-01.
//
// # What it is like
//
// The server behaves as one standalone ZooKeeper 3.8 does: error codes and which
// of several wins, all fields of Stat, which requests consume a zxid, the order
// of events and replies, expiry at the end of a tick, what a reconnect with
// setWatches brings, what happens to malformed frames. A state machine test
// holds it against a plain reference store, over the wire, in thousands of random scripts.
//
// # What is missing
//
//	every operation of a standalone 3.8.0    yes, compared with one by package conform
//	orders of children and of clean-up       Java's hash order (in a World: children shuffled by the seed)
//	auth                                     digest, ip, world, the super user; no x509, and sasl as a server without it
//	quotas, containers, TTL nodes            yes
//	four-letter words                        over TCP; envi and dirs show a host of the imagination
//	admin server, JMX                        no
//	more than one server                     no: no lagging follower, no election, no read-only mode
//	data on disk                             no: Stop and Restart keep it in memory, Snapshot and Load carry a tree
package fakezk
