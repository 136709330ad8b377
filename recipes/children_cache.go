package recipes

import (
	"github.com/zksim/zksim/recipes/internal/request"
)

// ChildrenCache keeps a local copy of the children of one node, data included. Reading the copy
// sends no request. The node need not exist. Methods may be called from several goroutines.
//
// Each child has the guarantees of the node of a NodeCache. Ready waits until all children of the
// first list were read.
//
// When the connection is lost, the cache keeps its last state, and Stale is true. When the session
// ends, the cache lists and reads all children again in the new one. A child that the server
// refuses to show keeps its last state, or is not shown if it has none. The cache is then stale,
// Err returns the reason, and the child is read again soon; the other children are followed
// meanwhile. A done context ends only its own call.
//
// It cannot guarantee that it shows several children as of the same moment, as each child is read
// by its own request. Of two successive changes by one client, the cache may show the second one
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
	v.withoutRoot = true
	return &ChildrenCache{v}
}

// Get returns the child of that name in the copy, or false if the copy does not have it.
func (c *ChildrenCache) Get(name string) (CachedNode, bool) {
	return c.node(request.Join(c.root, name))
}
