// Package fourletter answers the four-letter words like a ZooKeeper 3.8.0, a standalone one or a
// server of an ensemble. A four-letter word is sent on a new connection in place of the length of a
// frame. The server answers with text and closes the connection.
//
// A [Server] holds everything that an answer shows. [Take] collects what an answer needs, and the
// function that it returns makes the text. The package knows no network. Only srst and crst change
// something, the engine's counters.
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
//	crst   resets the statistics of cons
//	srst   resets the statistics of srvr
//	dump   sessions by time of expiry, ephemerals by session, connections by time of expiry
//	wchs   the number of data watches
//	wchc   the paths watched, by session
//	wchp   the sessions watching, by path
//	hash   the digests of the tree at every 128th zxid
//	gtmk   the trace mask, without a newline
//	stmk   followed by eight bytes sets the trace mask; the answer is the new mask
//
// A real server answers a word that is not in its whitelist (zookeeper.4lw.commands.whitelist, by
// default srvr alone) with [Refusal]. The caller keeps the whitelist.
//
// # Use
//
//	if fourletter.Known(word) {
//		s.Words.Received++
//		text := fourletter.Take(word, argument, &s)() // or Refusal(word)
//		// after srst: s.Words = engine.Stats{}, s.Traffic.Reset()
//		// after stmk: s.TraceMask, _ = fourletter.TraceMask(argument)
//		s.Words.Sent += fourletter.Packets(text)
//		// send the text and close the connection
//	}
//
// The counters of mntr and dump need [Traffic.Count] for the reaction to every call of
// the engine, best by its Config.Observe. Only Take uses the engine, and calls Server.Step
// on the way: a caller with a lock lets others have it then. The text of a million watches takes
// seconds, for which no lock is needed.
//
// An empty text is an answer, too: the connection closes without a byte.
//
// # Order
//
// The real server lists much in the order of Java's hash tables. Where that order follows
// from the contents (paths, session ids, metrics), it is the same here, for tables that
// are as large as their present contents require; Java's tables never shrink. Where it
// follows from the addresses of objects (connections, sessions that expire together, the
// watchers of one path), it is the order of the ids, with the asking connection last.
//
// # Limits
//
// Requests take no time, so every latency and processing time is 0; a real server on a
// fast disk shows 0 to 2 ms. No request is ever outstanding.
//
// [Traffic] holds a part of the past that a real server still shows; it may be empty. An answer to
// dump lacks the empty sets of a real one ("0 expire at"), for ticks in which a session or
// connection was due until it was heard of again. Metrics of
// elections, proposals, TLS, throttling, caches and exceeded quotas are zero, as on a server that
// has never used any, and a leader has none about the connection of each follower.
package fourletter
