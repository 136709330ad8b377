// Package fakezk is an in-memory ZooKeeper server for Go tests. The real go-zookeeper client
// connects to it and talks the real protocol, without Java, without a port and without waiting.
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
// [Start] gives a [Server], [Server.Connect] a connected client, and both end with the test.
// [Server.ConnectAs] takes settings: a name, a timeout, options of the client, and a channel of
// events. For code that makes its own connection use [Server.Dialer] and [HostProvider]. Code that
// dials by itself needs [Server.Host], and a program built by zksim go. A client in another process
// connects to the address of [Server.Listen]. Outside of tests, use [New] and [Server.Serve].
//
// The code under test talks to the Server through its client. The test calls methods of the Server:
//
//   - [Server.Put] and [Server.Remove] change nodes as another client would.
//   - [Server.Get], [Server.Tree], [Server.Sessions] and [Server.Watches] return the present state.
//   - [Server.CheckGet] and [Server.CheckGone] compare it with what the test expects.
//   - [Server.Inject] arms a fault.
//   - [Server.ExpireSession] and [Server.DropConnections] end sessions and connections.
//   - [Server.Stop] and [Server.Restart] make the server unreachable, and bring it back.
//   - [Server.Snapshot], [Server.Load] and [Server.Reset] save, load and empty the tree.
//
// Everything works inside a testing/synctest bubble: start the server in the bubble,
// and a session's ten seconds pass in microseconds. No goroutine stays behind once the
// test's cleanup is done.
//
// With [Options].Trace, a test that fails prints what happened at the server, line by line, and
// [Server.History] returns it.
//
// # Faults
//
// [Server.Inject] arms a fault: it cuts a connection, loses a reply or ends a session
// when a request of your choice comes.
//
//	server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create", Request: 1})
//
// A fault of the kind error makes a request fail with the error of your choice. It is not applied.
// So a test sees what the code does when it may not write:
//
//	server.Inject(fault.Fault{Kind: fault.Error, Code: "NoAuth", Op: "create", Request: 2})
//
// A fault that never acts makes the test fail at its end: it tested nothing.
//
// Package fakezk/fault lists the kinds. To run code under many faults, each at the worst moment,
// use package fakezk/sim, or package fuzz, which also judges the results.
//
// # Ensembles
//
// With [Options].Servers the Server is an ensemble. A client connects to any server by
// [Server.Addresses], or to a chosen one by [Client].Server. All servers apply a write at once,
// unless a fault keeps one behind. So a test can choose a state that is rare in a real ensemble:
//
//	server := fakezk.Start(t, fakezk.Options{Servers: 3})
//	conn, _ := server.ConnectAs(t, fakezk.Client{Server: 2})
//	server.Inject(fault.Fault{Kind: fault.Lag, Server: 2, For: time.Minute, At: time.Millisecond})
//
// From then on the client reads old data and sees nodes of sessions that have ended. A write or a
// Sync brings the server up to date. A server refuses a client that has seen a newer state than the
// server has. [Server.Stop] and [Server.Restart] take numbers of servers. When the leader
// ([Server.Leader]) stops, another server leads at once, and all connections are closed. Without a
// majority no server serves.
//
// # The race detector
//
// The go-zookeeper client has a data race at every reconnect: while it collects its watches for
// setWatches, a reply changes the zxid that it sends with them. Then the race detector fails the
// test, or an event is lost. So after a reconnect in memory the Server keeps the replies to a
// session with watches until the client has sent setWatches. They wait for at most 100 ms if the
// client may hold no watch, as the reply with its only one was lost, and else for 2 s. At the first
// connection the race lasts for microseconds. Connect ends after it: in a bubble it sleeps for a
// nanosecond of virtual time, elsewhere for a millisecond.
//
// # Fidelity
//
// The server behaves as a standalone ZooKeeper 3.8: error codes and their order, all fields of
// Stat, the requests that consume a zxid, the order of events and replies, expiry at the end of a
// tick, the events after a reconnect with setWatches, and the treatment of malformed frames. A
// state machine test compares it with a plain reference store, over the wire, in thousands of
// random scripts; package conform compares it with a real server.
//
// # Limits
//
//	every operation of a standalone 3.8.0  yes, compared with one by package conform
//	orders of children and of clean-up     Java's hash order
//	auth                                   digest, ip, world, the super user; no x509
//	sasl                                   DIGEST-MD5 with Options.SASLUsers, no Kerberos;
//	                                       without users as a server without SASL
//	quotas, containers, TTL nodes          yes
//	four-letter words                      over TCP; envi and dirs show an invented host
//	admin server, JMX                      no
//	several servers                        Options.Servers: lag, elections, epochs; no
//	                                       observers, no read-only mode, no reconfig
//	data on disk                           no: Stop and Restart keep it in memory,
//	                                       Snapshot and Load save and load a tree
//
// # What one client can cost the others
//
// No client stalls another for long: what a client can make by the million is worked off in turns
// of some thousand steps, between which the requests of others are answered. A real server has none
// of these bounds.
//
//	tree, snapshot, load, reset, remove    turns of 4,096 nodes
//	dump, wchs, wchc, wchp                 collected in turns of 4,096 watches; the text is
//	                                       made beside the requests, one text at a time
//	watches of a connection that is gone   silent at once, removed 4,096 at a time
//	a list of children or ephemerals,      more than 64 MiB: the connection is closed, and
//	the results of a multiRead             the log says why
//	replies that wait for their client     64 MiB: see Options.MaxQueued
//	namespaces in mntr                     the first 1,000, with names of up to 1 KiB
//	the history of Options.Trace           1,000 records of up to 2,000 bytes each
//
// One transaction is one step of work, as on a real server: the end of a session with a million
// ephemeral nodes, or a multi as long as Options.MaxFrame permits.
package fakezk
