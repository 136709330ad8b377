package state

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A tree has the znodes, and a digest of them.
type tree struct {
	root   *node
	chars  int // of all paths, as Java counts
	digest digest
}

// newTree returns the tree of a new server.
func newTree(cfg Config) tree {
	t := tree{
		root:   &node{acl: openACL, data: []byte{}, size: subtree{nodes: 1}},
		chars:  len("/"),
		digest: digest{on: cfg.Digests},
	}
	t.addSystemNode(systemRoot, openACL)
	t.addSystemNode(quotaRoot, openACL)
	config := t.addSystemNode(systemRoot+"/config", configACL)
	config.aversion = -1
	if cfg.Members != "" {
		config.data, config.version = []byte(cfg.Members), -1
		t.addUsage(systemRoot+"/config", 0, len(cfg.Members))
	}
	t.digest.update("/", t.root)
	return t
}

var (
	openACL   = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	configACL = []proto.ACL{{Perms: proto.PermRead, Scheme: "world", ID: "anyone"}}
)

// addSystemNode adds a node without a transaction: the parent's counter stays.
func (t *tree) addSystemNode(path string, acl []proto.ACL) *node {
	n := &node{acl: acl, data: []byte{}, size: subtree{nodes: 1}}
	parent, _ := t.find(parentOf(path))
	n.attach(parent, nameOf(path))
	t.chars += len(path)
	t.addUsage(parentOf(path), 1, 0)
	t.digest.update(path, n)
	return n
}

// find returns the node at path, which may be any string; "" is the root.
func (t *tree) find(path string) (*node, bool) {
	if path == "" || path == "/" {
		return t.root, true
	}
	if path[0] != '/' {
		return nil, false
	}
	n, ok := t.root, true
	for rest, more := path[1:], true; more && ok; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		n, ok = n.child(name)
	}
	return n, ok
}

// lookUp returns the node at a path that a client reads.
func (t *tree) lookUp(path string) (*node, proto.ErrCode) {
	if path == proto.NullPath {
		return nil, proto.MarshallingError
	}
	n, ok := t.find(path)
	if !ok {
		return nil, proto.NoNode
	}
	return n, proto.OK
}

func (t *tree) readable(path string, by Caller) (*node, proto.ErrCode) {
	n, err := t.lookUp(path)
	if err == proto.OK && !CanRead(n.acl, by) {
		return nil, proto.NoAuth
	}
	return n, err
}

// mustFind returns a node that existed when a Txn was prepared. It panics without one.
func (t *tree) mustFind(txn *Txn, path string) *node {
	n, ok := t.find(path)
	if !ok {
		panic(fmt.Sprintf("state: zxid %#x (%s): no node %q", txn.Zxid, txn.Op, path))
	}
	return n
}

// addUsage adds nodes and bytes to the subtrees of the node at path and of all nodes above it.
func (t *tree) addUsage(path string, nodes, bytes int) {
	if nodes == 0 && bytes == 0 {
		return
	}
	n := t.root
	n.size.add(nodes, bytes)
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		below, ok := n.child(name)
		if !ok {
			return
		}
		n = below
		n.size.add(nodes, bytes)
	}
}
