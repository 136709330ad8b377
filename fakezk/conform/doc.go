// Package conform compares two ZooKeeper servers: it plays the same requests on both and compares
// every answer. It shows that the server of package fakezk behaves like a real one.
//
//	report, err := conform.Compare(ctx,
//		conform.Target{Name: "fakezk", Dial: dialFake},
//		conform.Target{Name: "ZooKeeper", Address: "127.0.0.1:2181"},
//		conform.Options{Ops: 20_000, Seed: 1})
//	fmt.Print(report.Table())
//
// # Comparison
//
// The clients of this package speak the protocol frame by frame, in several sessions at a time. For
// each step all output on the session's connection is compared in order: notifications, reply
// headers, the bodies to the last byte, and the end of the connection: an orderly one, one within a
// frame, a reset or an impossible length. At the end of a script every session is closed; the
// replies and notifications of the close are compared, too. Some values differ between any two
// servers and are compared as follows:
//
//   - Ids of sessions: by the session that an id belongs to, its distance to the last
//     id, and its first byte, which is the server's. Passwords must be those that a real
//     server derives from the id.
//   - Times: a zxid must have one time, times must not fall as zxids rise, and the time
//     must be that at which the zxid was drawn, within 3 s by the clock of this process.
//     The servers' clocks must agree with it.
//   - Zxids: relative to the start of the script. In a stat all earlier ones are equal.
//     In the family "fresh" zxids are compared as they are.
//   - The order of frames on different connections is undefined and not compared.
//
// A step for which neither server has a connection is not counted.
//
// # Families
//
// A family is a list of scripts about one subject: framing, sessions, zxids, stat, paths, create,
// sequence, ephemerals, watches, setwatches, multi, acl, auth, order, quota, limits, and
//
//   - fresh: requests about "/", for new servers, see Options.Fresh;
//   - expiry: sessions that expire, which takes some five seconds;
//   - reaping: containers and TTL nodes that the server deletes, if both servers look
//     for them every second or so.
//
// The scripts are in families/*.txt. A script is a line with its name and a line for each
// step: a session, a verb and its arguments.
//
//	== own watches come before the reply
//	w getData $ watch
//	w setData $ data=x v=0
//	w create $/lock- flags=3 acl=31/digest/@alice:pw
//	w burst { exists $/b watch ; multi { create $/b ; delete $/c } }
//	w drop
//	w attach
//
// $ stands for [Root]. Operations have the names of ZooKeeper's documentation; "op CODE HEX" sends
// any body. The requests of a burst are sent in one write. drop ends the connection, attach opens a
// new one for the session, await waits for a notification, expire for the server to end the
// connection. Quotes are those of Go. A session connects with its first request.
//
// Random scripts follow the families, Options.Ops steps of them: two to four sessions, all
// operations, valid and invalid paths and arguments, watches of all kinds, connections
// that end and are opened again, bodies that cannot be decoded. The server grants most
// of the requests, and about every third causes an event.
//
// A random script with a difference is played five times more. If it always differs, it is
// shortened, and the report has the shortest script in the same notation. If it differs
// sometimes, the report has the script with the number of times; if never again, it is in
// Report.Unrepeated. Report.Equal is false in each case.
//
// # Configuration of the servers
//
// Both must be standalone servers with the same configuration and without other clients,
// since other writes consume zxids. They need
//
//	-Dzookeeper.DigestAuthenticationProvider.superDigest=super:...   see SuperDigest
//	-Dzookeeper.extendedTypesEnabled=true
//
// the first because scripts create nodes that only the superuser can delete. All families also need
//
//	-Dzookeeper.enforceQuota=true
//	-Dznode.container.checkIntervalMs=500   for the family reaping, or
//	                                        100000 for random containers
//
// Without them scripts are skipped, and the report says so. With the default interval of
// a minute the server may delete a container during a random script, which is then
// reported as Unrepeated. Both servers must have the same shortest and longest session
// timeout; [SessionTimeouts] returns them. With a shortest one of four seconds or more no
// session expires in the middle of a script on a busy machine. The client's address must
// be 127.0.0.1 if one of the servers is a fakezk with in-memory connections.
//
// Scripts write only below Root and below /zookeeper/quota followed by Root. Both are deleted
// before every script and at the end. With Options.Fresh scripts write elsewhere, too, and
// everything is deleted. All sessions are closed at the end, even if the comparison is interrupted.
//
// # Limits
//
// Requests that break a real 3.8 server are not compared: a createTTL with a negative TTL
// and a flag that is not for TTL nodes (the server exits), an addWatch on a null path (the
// connection can no longer be closed), a restart after a check outside of a multi, and a
// node /zookeeper/zookeeper_limits that is created and deleted (the server exits).
//
// Nor is behaviour that depends on chance on a real server:
//
//   - whether it answers the requests behind one that makes it close the connection, or
//     two or more requests directly before the client's end of the connection;
//   - whether auth or sasl overtakes the requests before it, and whether the session
//     then may read the nodes of their events: in random bursts an auth is behind reads
//     only, and its answer is reported last;
//   - whether a request in one burst with a setACL before it is checked by the new list:
//     PrepRequestProcessor does not put the list into the ChangeRecord for the later
//     requests. Random bursts have a setACL at their end only;
//   - how many events of its own ephemerals a connected session gets when it expires. One server's
//     events must be the beginning of the other's, so a server that never sends any is not found.
//
// The order of nine or more names in one bucket of a hash table, which depends on the shape of a
// tree, is not compared. Four-letter words and ensembles are not part of this package.
package conform
