package recipes

// NodeCache keeps a copy of one node. Reading the copy sends no request. The node need not exist.
// Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Get returns a state that the node had at some moment. Later calls never return an older
//     state.
//   - After each change the node is read again. Once changes and faults have ended, the cache shows
//     the present state, at the latest after the next recheck. It may skip states in between.
//   - Each change of the cache is an event of the right kind for each reader of Changes; see
//     CacheChanges.
//   - Stale is true before the first read of the node, while the client knows that it is not
//     connected, and from the end of a session until the first read in the next session.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, the node is read again in the new one. A refused read is tried again, and Err returns the
// refusal. A done context ends only its own call. After Close the cache keeps its last state.
//
// It cannot guarantee to show a change within a fixed time: its server may lag behind the others
// while Stale is false, and a silent server is not noticed at once. Do not switch the recheck off
// (RecheckEvery): on a reconnection the client asks for the changes since the newest zxid in any
// reply. If the connection is lost again just after such a reply, the client misses the changes
// before that zxid. A client that writes after a read should check the version, as SharedValue
// does.
//
// Layout: it creates no nodes. It reads the node, with a watch on its data, and watches for its
// creation while it is missing.
//
// Sources: Curator's NodeCache; CURATOR-391 (a node that is created anew with the same version has
// changed).
type NodeCache struct{ *view }

// NewNodeCache makes a cache of the node at path. It sends nothing before Start. The options that
// matter are RecheckEvery and Retry.
func NewNodeCache(conn Conn, path string, opts ...Option) *NodeCache {
	return &NodeCache{newView(conn, "node cache", path, path, 0, opts)}
}

// Get returns the cached node. It returns false if the node does not exist or was not read yet.
func (c *NodeCache) Get() (CachedNode, bool) { return c.node(c.root) }
