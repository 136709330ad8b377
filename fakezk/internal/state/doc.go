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
// # Sharing
//
// A Store is not safe for concurrent use. Data and ACL slices are shared between
// requests, Txns, stores and results, and never written to: neither may a
// caller.
//
// # What is here
//
// create, create2, createContainer, createTTL, delete, setData, setACL, check,
// multi; exists, getData, getChildren, getACL; creation and closing of sessions
// with their ephemeral nodes; the acl schemes world, auth, digest, ip and super.
//
// # What is not here
//
// The watch table (events are listed, whoever holds the watches delivers them),
// session expiry (a clock's business), quotas, the reaping of containers and TTL
// nodes (their kind and ttl are kept). A reconfig is refused, as by any
// standalone server. The numbers of sequential nodes wrap around after
// 2147483647, as the ZooKeeper guide says.
//
// # Adding an operation
//
// Copy a neighbour: op_check.go is the shortest. An operation is a method of
// draft that validates in the server's order of checks and records a Change,
// a case in draft.step, and, if no Change fits, a new Change with its apply.
//
// Source: PrepRequestProcessor.java, FinalRequestProcessor.java and
// DataTree.java of ZooKeeper 3.8.
package state
