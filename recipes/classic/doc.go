// Package classic holds recipes that are kept because ZooKeeper's own sources and its tutorials
// have them. Four hold their promises under every fault, as those of package recipes do, which has
// something better for almost every use:
//
//	recipe         what it is                                                  use instead
//	WriteLock      the lock of the Apache recipes: Lock does not block, and a  recipes.Lock
//	               listener learns of the grant
//	HerdLock       a lock without a directory, for many names with few         recipes.Lock
//	               contenders each; a release wakes all waiters
//	VersionRWLock  many readers or one writer; readers never wait for a        recipes.RWLock
//	               waiting writer
//	TurnQueue      a lock with a visible line of waiters                       recipes.Lock with
//	                                                                           Participants
//
// Their options, errors and conventions are those of package recipes.
//
// Two are flawed, and kept for study and for tests of tools that must find the flaw: they break
// their promise when a connection is lost at the wrong moment. Do not use them in production.
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
