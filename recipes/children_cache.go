package recipes

// ChildrenCache keeps a copy of the children of one node, data included, to be read without a
// request. The node need not exist. Methods may be called from several goroutines.
//
// It guarantees for each child what NodeCache guarantees for its node. Ready waits until all
// children were read that were there at the beginning.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, all is listed and read again in the new one. A child that may not be read shows as it was
// last, or not at all, and keeps the cache stale; Err tells why, the other children are followed
// all the same, and it is tried again soon. A done context ends only the call that it was given to.
//
// It cannot guarantee that several children are shown as of the same moment. Each is read by its
// own request: of two changes that one client makes one after the other, the later may be shown
// first. Keep data that belongs together in one node.
//
// Layout: it creates no nodes. It lists the directory, with a watch on its children, and reads each
// child with a watch on its data; each watch costs a goroutine.
//
// Sources: Curator's PathChildrenCache; CURATOR-391 (see NodeCache); kazoo's ChildrenWatch.
type ChildrenCache struct{ *view }

// NewChildrenCache makes a cache of the children of the node at path. It sends nothing before
// Start. The options that matter are RecheckEvery and Retry.
func NewChildrenCache(conn Conn, path string, opts ...Option) *ChildrenCache {
	v := newView(conn, "children cache", path, path, 1, opts)
	v.rootless = true
	return &ChildrenCache{v}
}

// Get returns the child of that name as it is shown, and false if there is none, or it was not read
// yet.
func (c *ChildrenCache) Get(name string) (CachedNode, bool) { return c.node(join(c.root, name)) }
