package recipes

// TreeCache keeps a copy of a node and all nodes below it. Reading the copy sends no request. The
// node need not exist. Methods may be called from several goroutines.
//
// Each node has the guarantees of the node of a NodeCache. Ready waits until the whole tree was
// read.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, the whole tree is read again in the new one. Each recheck reads the whole tree, too: for a
// large tree set RecheckEvery to more than the default minute. If the server refuses to let a node
// be read, the node and all below it show as they were last, or not at all. Then Stale is true, Err
// returns the refusal, the other nodes are still followed, and the read is repeated soon. A done
// context ends only its own call.
//
// It cannot guarantee that several nodes are shown as of the same moment, see ChildrenCache. For a
// moment a node may be shown without its parent, or a parent without its child.
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

// Get returns the cached node at a full path. It returns false if the node does not exist or was
// not read yet.
func (c *TreeCache) Get(path string) (CachedNode, bool) { return c.node(path) }
