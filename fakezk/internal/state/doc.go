// Package state holds ZooKeeper's rules as values: what a request does to the
// tree of znodes, who may do it, which error it gets and which watches it
// fires. It reads no clock, starts no goroutine, draws no random number and
// knows neither connections nor bytes.
//
// # Two steps
//
// A write is prepared and then applied:
//
//	txn := store.Prepare(req, caller, nowMs)
//	result := store.Apply(txn)
//
// [Store.Prepare] checks the request against the store and fixes every decision
// (zxid, time, final path of a sequential node, expanded ACL, new version) in a
// [Txn]. It changes nothing. [Store.Apply] changes the store and says what to
// answer and which events to deliver. A Txn is plain data and needs no other
// context: it can be logged, sent to another store and replayed there. Stores
// that have applied the same Txns are equal.
//
// A Txn is prepared against the last applied one. Two Prepares without an Apply
// between them get the same zxid, and applying both panics.
//
// A refused write is a Txn too. It has its Err set, consumes a zxid and changes
// nothing else, as on a real server. Reads consume no zxid: they are plain
// methods.
//
// # The zxid of a reply
//
// It is [Store.LastZxid] once the Txn is applied. That is the Txn's own zxid but
// in one case: a multi with a null path is answered with the zxid before it,
// although its own is used up ([Txn.Skipped]).
//
// # Orders
//
// What a client can see of an order is the real server's, that of the hash tables of
// Java 17: names of children, a session's ephemeral nodes and with them the
// events at its end, identities, containers and TTL nodes to delete. Equal
// stores have equal orders, and so has a [Store.Clone] for ever after. A real
// server that restarts fills its tables anew, in another order; a Store does not
// know of restarts.
//
// Tables that turn a bucket of more than eight keys into a search tree are not
// imitated. That takes some hundred thousand random names, or names made to
// collide; the order of the keys of such a bucket may then differ.
//
// # Sharing
//
// A Store is not safe for concurrent use. Data and ACL slices are shared between
// requests, Txns, stores and results, and never written to: neither may a
// caller.
//
// # What is here
//
// create, create2, createContainer, createTTL, delete, setData, setACL, check,
// multi; exists, getData, getChildren, getACL, getEphemerals,
// getAllChildrenNumber; creation and closing of sessions with their ephemeral
// nodes; the deletion of containers and TTL nodes whose time has come, when
// somebody asks for it; quotas, counted and if told so enforced; the acl schemes
// world, auth, digest, ip and super; null paths.
//
// # What is not here
//
// The watch table (events are listed, whoever holds the watches delivers them);
// session expiry and the moment to look for containers (a clock's business); the
// log lines of soft quotas; the setting that lets containers go that were never
// used. A reconfig is refused, as by any standalone server.
//
// A real server stops for good at a createTTL with a negative ttl and no TTL flag,
// at limits right below /zookeeper/quota, at zookeeper_limits made or deleted right
// below /zookeeper, and when it has to add to statistics
// that somebody overwrote with something else. A Store refuses the first with
// BadArguments and takes no notice of the others.
//
// A parent's sequence numbers end at 2147483647, which is given out again and
// again; the ZooKeeper guide speaks of an overflow, and within one multi there is
// one.
//
// # Adding an operation
//
// Copy a neighbour: op_check.go is the shortest. An operation is a method of
// draft that validates in the server's order of checks and records a Change,
// a case in draft.step, and, if no Change fits, a new Change with its apply and a
// case in Store.apply.
//
// Source: PrepRequestProcessor.java, FinalRequestProcessor.java and
// DataTree.java of ZooKeeper 3.8; HashMap.java and ConcurrentHashMap.java of
// OpenJDK 17.
package state
