// Package carry decides how connections with faults treat the messages on them. It is the one fault
// engine of this module: a fakezk.Server, a simulated world and the proxy of a real world drive it.
//
// A [Network] has the connections of a run and the faults that are armed for it. A [Conn] has two
// lanes of messages, to the server and to the client, and one [State]. Nothing in here waits, reads
// a clock or calls out. The driver reports each event by a call, which returns a list of actions
// for [Perform]:
//
//	n.Open(conn)                    a connection exists
//	n.Dial(client, server, now)     does a dial succeed?
//	conn.QueueUp(m)                 the client sends a message
//	conn.DeliverUp(now)             the first message of that lane reaches the server
//	conn.FromServer(m, damage, now) the server sends a message
//	conn.QueueDown(m)               it is on its way
//	conn.DeliverDown(now)           the first message of that lane reaches the client
//	n.Strike(f, now, driver)        the time of a fault has come
//
// Time is a duration since a moment that the driver chooses. A driver may deliver the first message
// of a lane from the time of [Lane.First] on; one with latencies does it later.
//
// Each kind of fault is one case of the switch in kinds.go. A Conn has the number of the server at
// its far end, which is 0 as long as there is one server. A driver with several servers tells the
// Network of them by Serve: then it holds what a server that is cut off cannot answer alone.
//
// A [Driver] does the rest: it applies requests, ends sessions, restarts servers, closes
// connections, writes the trace, bounds the bytes held for a connection, and wakes up in time.
package carry
