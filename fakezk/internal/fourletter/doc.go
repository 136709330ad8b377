// Package fourletter writes what a standalone ZooKeeper 3.8.0 says to the
// four-letter words: four bytes sent on a fresh connection in place of a frame's
// length, answered with text, after which the server closes the connection.
//
// The package is pure. A [Server] holds everything that an answer shows, and
// [Answer] is text; only srst and crst change something, the engine's counters.
//
//	word   answer
//	ruok   "imok", without a newline
//	isro   "rw", without a newline
//	srvr   version, latencies, packets, connections, zxid, mode, number of nodes
//	stat   the same with a line for each connection
//	mntr   the same and some 500 metrics as "zk_<key>\t<value>"
//	conf   the configuration as key=value
//	envi   the environment as key=value
//	dirs   the sizes of the data and log directories in bytes
//	cons   a detailed line for each connection
//	crst   forgets what cons shows
//	srst   forgets what srvr shows
//	dump   sessions by time of expiry, ephemerals by session, connections by time of expiry
//	wchs   how many watches there are on data
//	wchc   the paths watched, by session
//	wchp   the sessions watching, by path
//	hash   digests of the tree that were taken at every 128th zxid
//	gtmk   the trace mask, without a newline
//	stmk   followed by eight bytes sets the trace mask and says it, without a newline
//
// A real server answers words that its whitelist
// (zookeeper.4lw.commands.whitelist) lacks with [Refusal]; only srvr is there by
// default. Which words are listed is the caller's affair.
//
// # What the caller does
//
//	if fourletter.Known(word) {
//		s.Words.Received++
//		text := fourletter.Answer(word, argument, s) // or Refusal(word)
//		// after srst: forget s.Words, s.Traffic.Reset()
//		// after stmk: keep fourletter.TraceMask(argument)
//		s.Words.Sent += fourletter.Packets(text)
//		// send it and close
//	}
//
// and, for what mntr and dump know of the past, [Traffic.Count] with the reaction
// to every call of the engine, as its Config.Observe sees them. Reading through a
// tree of a hundred thousand nodes makes mntr take some 100 ms; all other words
// are quick.
//
// An empty text is sent as it is: the connection closes without a byte.
//
// # Order
//
// The real server lists much in the order of Java's hash tables. Where that
// order follows from the contents (paths, session ids, metrics) it is the same
// here; tables are taken to be as large as what they hold now requires, while
// Java's never shrink. Where it follows from the addresses of objects in memory
// (connections, sessions that expire together, the watchers of one path) any
// order is as good as another, and here it is that of the ids, with the asking
// connection last.
//
// # Limits
//
// Requests take no time, so every latency and processing time is 0; a real
// server on a fast disk shows 0 to 2 ms. Nothing is ever outstanding.
// What a real server's tables remember of the past comes from [History] and
// [Traffic]; left empty, the answers are those of a server without one. Nothing
// here feeds a History: the digests are checksums of every node with its times,
// the empty sets of dump follow from the millisecond at which each frame came.
// Metrics of ensembles, TLS, throttling, caches and exceeded quotas are those of
// a standalone server that has never used any: zero.
package fourletter
