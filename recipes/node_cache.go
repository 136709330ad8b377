package recipes

// NodeCache keeps a copy of one node, to be read without a request. The node need not exist.
// Methods may be called from several goroutines.
//
// What it guarantees:
//
//   - What Get returns was true at some moment, and that moment never goes back: after a state of
//     the node an older one is not shown.
//   - After each change the node is read again. Once changes and faults have ended, the cache shows
//     the node as it is, at the latest after the next recheck. It need not show every state in
//     between: several changes may look like one.
//   - Each change of what is shown is an event for each reader of Changes, of the right kind; see
//     CacheChanges.
//   - Stale is true while the client knows that it is not connected, before the node was read for
//     the first time, and from the end of a session until it was read in the next.
//
// When the connection is lost, the cache goes on showing what it had, and Stale tells. When the
// session ends, all is read again in the new one. A refused read is tried again, and Err tells why.
// A done context ends only the call that it was given to. Close ends the cache, which then goes on
// showing what it had.
//
// What it cannot guarantee: to show a change within some time, or to notice at once that the server
// is silent. Do not switch the recheck off (RecheckEvery): on a reconnection the client asks for
// what it has missed since the newest zxid in any reply, and so never hears of a change that was
// made before a reply which came just before the connection was lost once more. A client that acts
// on what it reads should check the version when it writes, as SharedValue does.
//
// Layout: none of its own; it creates nothing. It reads the node, with a watch on its data, and
// watches for its creation while it is missing.
//
// Sources: Curator's NodeCache; CURATOR-391 (a node that is created again with the same version is
// a change).
type NodeCache struct{ *view }

// NewNodeCache makes a cache of the node at path. It sends nothing before Start. The options that
// matter are RecheckEvery and Retry.
func NewNodeCache(conn Conn, path string, opts ...Option) *NodeCache {
	return &NodeCache{newView(conn, "node cache", path, path, 0, opts)}
}

// Get returns the node as it is shown, and false if there is none, or it was not read yet.
func (c *NodeCache) Get() (CachedNode, bool) { return c.node(c.root) }
