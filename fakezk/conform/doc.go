// Package conform compares two ZooKeeper servers: it plays the same requests on
// both and compares every answer. It is how the server of package fakezk is held
// against a real one.
//
//	report, err := conform.Compare(ctx,
//		conform.Target{Name: "fakezk", Dial: dialFake},
//		conform.Target{Name: "ZooKeeper", Address: "127.0.0.1:2181"},
//		conform.Options{Ops: 20_000, Seed: 1})
//	fmt.Print(report.Table())
//
// # What is compared
//
// Clients of this package speak the protocol frame by frame, several sessions at
// a time. For each step everything that comes on the session's connection is
// compared in its order: notifications, reply headers, the bodies to the last
// byte, and how the connection ends: in an orderly way, within a frame, with a
// reset or with a length that cannot be. At the end of a script every session is
// closed, and the answer to that and what the others hear of it count too. Left
// out is only what two servers cannot have in common:
//
//   - ids of sessions: compared is which session an id belongs to, how far it is
//     from the last one, and its first byte, the server's; passwords have to be
//     what a real server makes of the id;
//   - times: compared is whether a zxid has one time, whether times do not fall as
//     zxids rise, and whether the time is when the zxid was given, within 3 s by the
//     clock of this process. The servers' clocks have to agree with it;
//   - the zxid at which a script begins: zxids count from there (in the family
//     "fresh" they are compared as they are), and a stat shows what was before as
//     old;
//   - the order of what comes on different connections, which is undefined.
//
// A step for which there is no connection on either server is not counted.
//
// # Families
//
// A family is a list of scripts about one subject: framing, sessions, zxids, stat,
// paths, create, sequence, ephemerals, watches, setwatches, multi, acl, auth,
// order, quota, limits, and
//
//   - fresh: what shows at "/", for servers that nobody has used, see
//     Options.Fresh;
//   - expiry: some five seconds of waiting for sessions to expire;
//   - reaping: containers and TTL nodes that go by themselves, if both servers
//     look for them every second or so.
//
// The scripts are in families/*.txt. A script is a line with its name and a line
// for each step: a session, what it does, and with which arguments.
//
//	== own watches come before the reply
//	w getData $ watch
//	w setData $ data=x v=0
//	w create $/lock- flags=3 acl=31/digest/@alice:pw
//	w burst { exists $/b watch ; multi { create $/b ; delete $/c } }
//	w drop
//	w attach
//
// $ stands for [Root]. Operations are called as in ZooKeeper's documentation;
// "op CODE HEX" sends any body. A burst goes out in one piece. drop ends the
// connection, attach comes back to the session on a new one, await waits for a
// notification, expire for the server to end the connection. What is in quotes is
// quoted as in Go. A session connects with its first request.
//
// Random scripts come after the families, Options.Ops steps of them: two to four
// sessions, all operations, paths and arguments good and bad, watches of all kinds,
// connections that end and come back, bodies that cannot be decoded. Four of five
// requests are such that a server grants them, and every third causes an event.
//
// A random script that differs is played five times more. If it always differs it
// is made shorter; what is left is told in the same notation. If it differs now
// and then, it is a difference with that rate; if never again, it is told apart as
// Report.Unrepeated. Neither leaves Report.Equal true.
//
// # What the servers need
//
// Both have to be standalone servers of one configuration, with no other client,
// as a write of another shows in the zxids. They need
//
//	-Dzookeeper.DigestAuthenticationProvider.superDigest=super:...   see SuperDigest
//	-Dzookeeper.extendedTypesEnabled=true
//
// the first because scripts make nodes that only the superuser can delete. For all
// families
//
//	-Dzookeeper.enforceQuota=true
//	-Dznode.container.checkIntervalMs=500   for the family reaping, or
//	                                        100000 for random containers
//
// Without them scripts are skipped, and the report says so. With the default
// interval of a minute a container may go while a random script looks at it: such
// a script is reported as not repeatable. The shortest and the longest session
// timeout have to be the same; [SessionTimeouts] asks for them. A shortest one of
// four seconds or more keeps sessions from expiring in the middle of a script on a
// busy machine. The client's address must be 127.0.0.1 if one of the servers is a
// fakezk that is connected to in memory.
//
// All that scripts write is below Root and /zookeeper/quota with Root behind it.
// Both are deleted before every script and at the end. Only with Options.Fresh
// scripts write beside it too, and everything is deleted. All sessions are closed
// again, also when the comparison is interrupted.
//
// # Limits
//
// Not compared is what makes a real 3.8 server fall over, as there is nothing to
// compare with afterwards: a createTTL with a negative TTL and a flag that is not
// for TTL nodes (the server ends), an addWatch on a null path (the connection
// cannot be closed any more), starting again after a check outside of a multi, and
// a node /zookeeper/zookeeper_limits that is created and deleted (the server ends).
//
// Nor what it leaves to chance:
//
//   - whether it still answers what is behind a request that makes it close the
//     connection, and two or more requests that the client's end of the connection
//     comes right behind;
//   - whether auth or sasl overtakes the requests before it, and whether the events
//     of these are then kept from the session or not: in random bursts an auth
//     stands behind reads only, and its answer is told last;
//   - whether a request that is sent together with a setACL before it is judged by
//     the new list: PrepRequestProcessor does not put the list into the
//     ChangeRecord that it leaves for the requests behind. Random bursts have a
//     setACL at their end only;
//   - how many events of its own ephemerals a session still hears when it expires
//     while it is connected, none included. What one server sends there has to be
//     the beginning of what the other sends, so a server that never sends any
//     cannot be told from one that does.
//
// Nine or more names in one bucket of a hash table, whose order depends on the
// shape of a tree, are not compared. Four-letter words are not part of this
// package, nor are the members of an ensemble.
package conform
