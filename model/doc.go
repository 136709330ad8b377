// Package model is the dumb sequential truth that cleverer code is held
// against: [Store] for the znode store, and [Lock], [ReentrantLock], [RWLock],
// [Semaphore], [Queue], [PriorityQueue], [DelayQueue], [Counter], [Value], [Barrier] and [Transaction] for the objects that recipes build
// on it.
//
// Everything here is written to be obviously right rather than fast: one thing
// happens at a time, what can be computed is computed again each time, and the
// package imports nothing but the standard library. It shares no code with the
// server or the recipes it is used to judge, so a mistake has to be made twice
// to go unnoticed.
//
// # The store
//
// A [Store] behaves like one standalone ZooKeeper 3.8 server as seen through
// its wire protocol: which error wins when several apply, every field of Stat
// except the two times, which request consumes a zxid, which watch fires and in
// which order. Each method is one request of one session and returns its result
// with the [Code] that the reply's header would carry; [Store.Events] hands out
// what the server would have written to that session's connection.
//
// Left out: times, containers and TTL nodes, quotas, persistent and recursive
// watches, authentication (only the ACL entry world:anyone ever matches), size
// limits, and null paths. Children come sorted, while a real server's order is
// arbitrary. The ephemerals of a closing session are deleted in sorted order,
// while a real server follows a Java hash set: compare the events of one such
// zxid as a set.
//
// # The objects
//
// Each object is a small comparable value with a Step method that returns every
// state the object may be in after an operation; an operation that cannot have
// happened returns none. An outcome nobody knows returns more than one. The kinds
// of locks share one type of operation, [LockOp].
//
// An object of another kind is one more file: a comparable state, an operation
// with an [Outcome], and Step.
package model
