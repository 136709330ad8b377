package recipes

// TreeCache keeps a copy of a node and all nodes below it, to be read without a request. The node
// need not exist. Methods may be called from several goroutines.
//
// It guarantees for each node what NodeCache guarantees for its node. Ready waits until the whole
// tree was read.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, the whole tree is read again in the new one, as at each recheck: for a large tree set
// RecheckEvery to more than the default minute. A node that may not be read shows as it was last,
// or not at all, with all below it, and keeps the cache stale; Err tells why, the other nodes are
// followed all the same, and it is tried again soon. A done context ends only the call that it was
// given to.
//
// It cannot guarantee that several nodes are shown as of the same moment, see ChildrenCache. For a
// moment a node may be shown without its directory, or the other way round.
//
// Layout: it creates no nodes. It sets a watch on the data and one on the children of each node;
// each watch costs a goroutine.
//
// Sources: Curator's TreeCache; CURATOR-391 (see NodeCache).
type TreeCache struct{ *view }

// NewTreeCache makes a cache of the node at path and all below it. It sends nothing before Start.
// The options that matter are RecheckEvery and Retry.
func NewTreeCache(conn Conn, path string, opts ...Option) *TreeCache {
	return &TreeCache{newView(conn, "tree cache", path, path, everything, opts)}
}

// Get returns the node at a full path as it is shown, and false if there is none, or it was not
// read yet.
func (c *TreeCache) Get(path string) (CachedNode, bool) { return c.node(path) }
