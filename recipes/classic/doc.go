// Package classic holds two well-known recipes that break their promise when a connection is lost
// at the wrong moment. They are for studying how that happens, and for testing tools that must find
// it. Do not use them in production.
//
//	recipe       broken promise                                               use instead
//	ApacheQueue  delivery: a lost reply to a delete loses an element, a lost  recipes.Queue
//	             reply to a create may double one
//	ClientLock   progress: a node that a failed Lock has left behind blocks   recipes.Lock
//	             all later callers as long as its session lives
//
// The first comes from the Apache ZooKeeper source, the second from the go-zookeeper client. Both
// send a request once and do not find out its outcome when the reply is lost: the server may have
// applied it.
package classic
