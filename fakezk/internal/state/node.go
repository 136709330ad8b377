package state

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A node is a znode. Its children form a linked list in order of creation, so
// that creating or deleting one of a hundred thousand costs the same as one of
// ten; whether a child exists is answered by the store's map of paths.
type node struct {
	name string
	data []byte // nil is told apart from empty
	acl  []proto.ACL

	czxid, mzxid, pzxid int64
	ctime, mtime        int64 // ms
	version, aversion   int32
	counter             int32 // children ever created; the next sequence number
	owner               int64 // session, 0 if not ephemeral
	kind                Kind
	ttlMs               int64

	parent      *node
	first, last *node
	prev, next  *node
	numChildren int32
}

// stat is what a client is shown. Cversion counts creations and deletions of
// children, of which the node remembers the creations only.
func (n *node) stat() proto.Stat {
	return proto.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion, Cversion: 2*n.counter - n.numChildren,
		EphemeralOwner: n.owner,
		DataLength:     int32(len(n.data)),
		NumChildren:    n.numChildren,
	}
}

// bare is a copy without relatives.
func (n *node) bare() *node {
	c := *n
	c.parent, c.first, c.last, c.prev, c.next, c.numChildren = nil, nil, nil, nil, nil, 0
	return &c
}

// find returns the node at path. Any string may be asked for; "" is the root.
func (s *Store) find(path string) (*node, bool) {
	if path == "" {
		path = "/"
	}
	n, ok := s.nodes[path]
	return n, ok
}

// insert links n at path as the last child of parent.
func (s *Store) insert(parent *node, path string, n *node) {
	n.name = path[strings.LastIndexByte(path, '/')+1:]
	n.parent, n.prev = parent, parent.last
	if parent.last == nil {
		parent.first = n
	} else {
		parent.last.next = n
	}
	parent.last = n
	parent.numChildren++
	s.nodes[path] = n
}

// remove unlinks the childless node n at path.
func (s *Store) remove(path string, n *node) {
	if n.prev == nil {
		n.parent.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		n.parent.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.parent.numChildren--
	n.parent, n.prev, n.next = nil, nil, nil
	delete(s.nodes, path)
}

// parentOf is the path of the parent, "/" for the root itself.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
