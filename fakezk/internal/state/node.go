package state

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A node is a znode. Its embedded element is its entry in the parent's children; the
// key is its name.
type node struct {
	element
	data []byte // nil is null data, unlike empty data
	acl  []proto.ACL

	czxid, mzxid, pzxid int64
	ctime, mtime        int64 // ms
	version, aversion   int32
	counter             int32 // children ever created; the next sequence number
	kind                Kind
	owner               int64  // session, 0 if not ephemeral
	ttlMs               int64  // 0 if not a TTL node
	digest              uint32 // its share of the tree's digest

	children *hashSet // nil until there is a first child
	size     subtree
}

// A subtree is the size of a node with everything below it.
type subtree struct {
	nodes int32
	bytes int64 // of data
}

func (t *subtree) add(nodes, bytes int) {
	t.nodes += int32(nodes)
	t.bytes += int64(bytes)
}

// stat returns the stat that a client sees. Cversion counts creations and deletions of
// children; the node stores only the creations.
func (n *node) stat() proto.Stat {
	children := n.numChildren()
	return proto.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion, Cversion: 2*n.counter - children,
		EphemeralOwner: n.owner,
		DataLength:     int32(len(n.data)),
		NumChildren:    children,
	}
}

func (n *node) numChildren() int32 { return int32(n.children.len()) }

// child returns the child with a name.
func (n *node) child(name string) (*node, bool) {
	e := n.children.get(name)
	if e == nil {
		return nil, false
	}
	return e.node, true
}

// attach makes n a child of parent, with a name that no other child has.
func (n *node) attach(parent *node, name string) {
	n.key, n.node = name, n
	if parent.children == nil {
		parent.children = newHashSet(childrenTable)
	}
	parent.children.put(&n.element)
}

// eachPath visits n, which is at path, and its descendants with their paths. The path
// of the root is empty here.
func (n *node) eachPath(path string, visit func(path string, n *node)) {
	visit(path, n)
	for e := range n.children.all() {
		e.node.eachPath(path+"/"+e.key, visit)
	}
}

// parentOf returns the path of the parent, "/" for the root itself.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// nameOf returns the part of a path behind the last '/'.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
