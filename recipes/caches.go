package recipes

import (
	"github.com/zksim/zksim/recipes/internal/request"
)

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
