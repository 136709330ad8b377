// Package refstore is a ZooKeeper server written to be obviously right: the expected value that
// tests compare cleverer servers with. It handles one request at a time, computes everything anew
// each time, and imports only the standard library. It shares no code with the server that it
// judges, so a mistake has to be made twice to go unnoticed.
//
// A [Store] behaves like one standalone ZooKeeper 3.8 server as seen through its wire protocol:
// which error wins when several apply, every field of Stat except the two times, which request
// consumes a zxid, which watch fires and in which order. Each method is one request of one session
// and returns its result with the [Code] that the reply's header would carry. [Store.Events]
// returns what the server would have written to that session's connection.
//
// Left out: times, containers and TTL nodes, quotas, persistent and recursive watches,
// authentication (only the ACL entry world:anyone ever matches), size limits, and null paths.
// Children come sorted, while a real server's order is arbitrary. The ephemerals of a closing
// session are deleted in sorted order, while a real server follows a Java hash set: compare the
// events of one such zxid as a set.
package refstore
