// Package classic holds two well-known recipes that break their promise when a connection is lost
// at the wrong moment. They serve to study the failure, and to test tools that must find it. Do not
// use them in production.
//
//	recipe       broken promise                                               use instead
//	ApacheQueue  delivery: a lost reply to a delete loses an element, a lost  recipes.Queue
//	             reply to a create may double one
//	ClientLock   progress: a node that a failed Lock has left behind blocks   recipes.Lock
//	             all later callers as long as its session lives
//
// ApacheQueue comes from the Apache ZooKeeper source, ClientLock from the go-zookeeper client. When
// a reply is lost, neither finds out whether the server has applied the request.
package classic
