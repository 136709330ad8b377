// Package state implements ZooKeeper's rules for the tree of znodes: the effect of a request, the
// permissions it needs, its error and the events it fires. It reads no clock, starts no goroutine,
// draws no random number and knows neither connections nor bytes.
//
// # Two steps
//
// A write is prepared and then applied:
//
//	txn := store.Prepare(req, caller, nowMs)
//	result := store.Apply(txn)
//
// [Store.Prepare] checks the request against the store and fixes every decision (zxid, time, final
// path of a sequential node, expanded ACL, new version) in a [Txn]. It changes nothing.
// [Store.Apply] changes the store and returns the reply and the events to deliver. A Txn is plain
// data and needs no other context: it can be logged, sent to another store and replayed there.
// Stores that have applied the same Txns are equal.
//
// A Txn is prepared against the last applied one. Two Prepares without an Apply
// between them get the same zxid, and applying both panics.
//
// A refused write is a Txn too. It has its Err set, consumes a zxid and changes nothing else, as on
// a real server. Reads consume no zxid: they are plain methods.
//
// # The zxid of a reply
//
// It is [Store.LastZxid] once the Txn is applied. That is the Txn's own zxid, with one
// exception: the reply to a multi with a null path has the zxid before it, although
// the multi consumes one ([Txn.Skipped]).
//
// # Orders
//
// Every order that a client can see is the real server's, that of the hash tables of
// Java 17: the names of children, a session's ephemeral nodes and with them the events
// at its end, identities, and the containers and TTL nodes to delete. A real server
// that restarts fills its tables in another order; a Store does not imitate that.
//
// A Java table turns a bucket of more than eight keys into a search tree. A Store does
// not, so the order of the keys of such a bucket may differ. It takes some hundred
// thousand random names, or names made to collide.
//
// # Sharing
//
// A Store is not safe for concurrent use. Data and ACL slices are shared between
// requests, Txns, stores and results. No store writes to them, and no caller may.
//
// # Implemented
//
// create, create2, createContainer, createTTL, delete, setData, setACL, check, multi; exists,
// getData, getChildren, getACL, getEphemerals, getAllChildrenNumber; creation and closing of
// sessions with their ephemeral nodes; the deletion of empty containers and expired TTL nodes on
// the caller's request; quotas, counted and (with [Config.EnforceQuota]) enforced; the ACL schemes
// world, auth, digest, ip and super; null paths.
//
// # Not implemented
//
// The watch table: results list events, and the owner of the watches delivers them.
// Session expiry and the time of the search for containers, which need a clock. The
// log lines of soft quotas. The setting that deletes containers that never had a
// child. A reconfig is refused, as by any standalone server.
//
// A real server fails for good at a createTTL with a negative ttl and no TTL flag, at limits
// directly below /zookeeper/quota, at a zookeeper_limits created or deleted directly below
// /zookeeper, and when it adds to statistics that a client has overwritten with other data. A Store
// refuses the first with BadArguments and ignores the others.
//
// A parent's sequence numbers end at 2147483647, which is then repeated. The ZooKeeper
// guide speaks of an overflow, which happens only within one multi.
//
// # Adding an operation
//
// Copy a neighbour: op_check.go is the shortest. An operation is a method of draft that validates
// in the server's order of checks and records a Change, a case in draft.step, and, if no Change
// fits, a new Change with its apply and a case in Store.apply.
//
// Source: PrepRequestProcessor.java, FinalRequestProcessor.java and DataTree.java of ZooKeeper 3.8;
// HashMap.java and ConcurrentHashMap.java of OpenJDK 17.
package state
