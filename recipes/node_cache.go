package recipes

// NodeCache keeps a copy of one node, to be read without a request. The node need not exist.
// Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Get returns a state that the node had at some moment. Later calls never return an older
//     state.
//   - After each change the node is read again. Once changes and faults have ended, the cache shows
//     the node as it is, at the latest after the next recheck. It need not show every state in
//     between: several changes may look like one.
//   - Each change of the cache is an event of the right kind for each reader of Changes; see
//     CacheChanges.
//   - Stale is true while the client knows that it is not connected, before the node was read for
//     the first time, and from the end of a session until it was read in the next.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, all is read again in the new one. A refused read is tried again, and Err tells why. A done
// context ends only the call that it was given to. Close ends the cache, which then keeps its last
// state.
//
// It cannot guarantee to show a change within some time, as its server may lag behind the others
// while Stale is false, or to notice at once that the server is silent. Do not switch the recheck
// off (RecheckEvery): on a reconnection the client asks for the changes since the newest zxid in
// any reply. So it never hears of a change before a reply that came just before the connection was
// lost again. A client that writes after a read should check the version, as SharedValue does.
//
// Layout: it creates no nodes. It reads the node, with a watch on its data, and watches for its
// creation while it is missing.
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
