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
// byte, and the end of the connection. Left out is only what two servers cannot
// have in common:
//
//   - ids and passwords of sessions: compared is which session an id belongs to,
//     whether it is the one after the last, whether a password is the same again;
//   - times: compared is whether the time in a stat is that of its zxid;
//   - the zxid at which a script begins: zxids count from there (in the family
//     "fresh" they are compared as they are);
//   - the order of what comes on different connections, which is undefined.
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
// notification. What is in quotes is quoted as in Go. A session connects with its
// first request.
//
// Random scripts come after the families, Options.Ops steps of them: two to four
// sessions, all operations, paths and arguments good and bad, watches of all kinds,
// connections that end and come back, bodies that cannot be decoded. A script that
// differs is played again, left alone if it does not differ then, and otherwise
// made shorter; what is left is told in the same notation.
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
// timeout have to be the same; [SessionTimeouts] asks for them. The client's address must be 127.0.0.1 if one of
// the servers is a fakezk that is connected to in memory.
//
// All that scripts write is below Root and /zookeeper/quota with Root behind it.
// Both are deleted before every script and at the end. Only with Options.Fresh
// scripts write beside it too, and everything is deleted.
//
// # Limits
//
// Not compared is what makes a real 3.8 server fall over, as there is nothing to
// compare with afterwards: a createTTL with a negative TTL and a flag that is not
// for TTL nodes (the server ends), an addWatch on a null path (the connection
// cannot be closed any more), and starting again after a check outside of a multi.
// Nor what it leaves to chance: whether it still answers what is behind a request
// that makes it close the connection, and whether auth or sasl overtakes the
// requests before it. Nine or more names in one bucket of a hash table, whose
// order depends on the shape of a tree, are not compared. Four-letter words are
// not part of this package, nor are the members of an ensemble.
package conform
