// Package classic holds two well-known recipes that break their promise when a connection is lost
// at the wrong moment. They are for people who want to see how that happens, and for testing tools
// that must find it. Do not use them in production.
//
//	recipe       what it breaks                                               use instead
//	ApacheQueue  delivery: an element whose delete loses its reply is lost,   recipes.Queue
//	             one whose create loses its reply may be offered twice
//	ClientLock   progress: a node that a failed Lock has left behind blocks   recipes.Lock
//	             all who come later, for as long as its session lives
//
// The first is that of the Apache ZooKeeper source, the second that of the go-zookeeper client.
// Both send a request once and do not find out what became of it when its reply is lost: the server
// may have applied it all the same.
package classic
