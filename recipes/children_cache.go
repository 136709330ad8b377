package recipes

// ChildrenCache keeps a copy of the children of one node, data included, to be
// read without asking the server. The node need not exist. Methods may be called
// from several goroutines.
//
// What it promises of each child is what NodeCache promises of its node: what is
// shown was true, its moment never goes back, once changes and faults have ended
// all is shown as it is, events are complete, and Stale is true while the
// connection is down. Ready waits until all children were read that were there at
// the beginning.
//
// On disconnect it goes on showing what it had, which Stale tells. On expiry all
// is listed and read again in the new session. A child that may not be read shows as
// it was last, or not, and keeps the cache stale; Err tells why, the others are none
// the worse for it, and it is tried again soon. A done context ends only the call
// that it was given to.
//
// What it cannot promise: that several children are shown as of the same moment.
// Each is read by a request of its own: of two changes that one client makes one
// after the other, the later may be shown first. What belongs together belongs in
// one node.
//
// Layout: none of its own; it creates nothing. It lists the directory, with a
// watch on its children, and reads each child with a watch on its data; these
// cost a goroutine each.
//
// Sources: Curator's PathChildrenCache; CURATOR-391 (see NodeCache); kazoo's
// ChildrenWatch.
type ChildrenCache struct{ *view }

// NewChildrenCache makes a cache of the children of the node at path. It sends
// nothing before Start. The options that matter are RecheckEvery and Retry.
func NewChildrenCache(conn Conn, path string, opts ...Option) *ChildrenCache {
	v := newView(conn, "children cache", path, path, 1, opts)
	v.rootless = true
	return &ChildrenCache{v}
}

// Get returns the child of that name as it is shown, and false if there is none,
// or it was not read yet.
func (c *ChildrenCache) Get(name string) (CachedNode, bool) { return c.node(join(c.root, name)) }
