package recipes

// TreeCache keeps a copy of a node and all nodes below it, to be read without
// asking the server. The node need not exist. Methods may be called from several
// goroutines.
//
// What it promises of each node is what NodeCache promises of its node: what is
// shown was true, its moment never goes back, once changes and faults have ended
// all is shown as it is, events are complete, and Stale is true while the
// connection is down. Ready waits until the whole tree was read.
//
// On disconnect it goes on showing what it had, which Stale tells. On expiry the
// whole tree is read again in the new session, and so it is at each recheck: for a
// large tree set RecheckEvery to more than its minute. A node that may not be read
// shows as it was last, or not, with all below it, and keeps the cache stale; Err
// tells why, the others are none the worse for it, and it is tried again soon. A
// done context ends only the call that it was given to.
//
// What it cannot promise: that several nodes are shown as of the same moment, see
// ChildrenCache. For moments a node may be shown whose directory is not, and the
// other way round.
//
// Layout: none of its own; it creates nothing. It sets a watch on the data and one
// on the children of each node; these cost a goroutine each.
//
// Sources: Curator's TreeCache; CURATOR-391 (see NodeCache).
type TreeCache struct{ *view }

// NewTreeCache makes a cache of the node at path and all below it. It sends
// nothing before Start. The options that matter are RecheckEvery and Retry.
func NewTreeCache(conn Conn, path string, opts ...Option) *TreeCache {
	return &TreeCache{newView(conn, "tree cache", path, path, everything, opts)}
}

// Get returns the node at a full path as it is shown, and false if there is none,
// or it was not read yet.
func (c *TreeCache) Get(path string) (CachedNode, bool) { return c.node(path) }
