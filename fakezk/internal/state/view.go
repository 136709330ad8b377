package state

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A NodeView is a znode with all its fields, including those that no client sees.
type NodeView struct {
	// Data is nil if the node's data are null.
	Data []byte
	ACL  []proto.ACL
	Stat proto.Stat
	// Kind is KindPlain for an ephemeral node, too; Stat has its owner.
	Kind Kind
	// TTLMs is 0 unless Kind is KindTTL.
	TTLMs int64
	// Created is the number of children ever created, and the next sequence number.
	// The stat's Cversion is twice that number minus the present children.
	Created int32
}

func (n *node) view() NodeView {
	return NodeView{
		Data: n.data, ACL: n.acl, Stat: n.stat(),
		Kind: n.kind, TTLMs: n.ttlMs, Created: n.counter,
	}
}

// Node returns the node at path without checking its ACL.
func (s *Store) Node(path string) (NodeView, bool) {
	n, ok := s.tree.find(path)
	if !ok {
		return NodeView{}, false
	}
	return n.view(), true
}

// Nodes returns all nodes in the order of their paths, without checking ACLs. Nothing
// may be applied during the iteration.
func (s *Store) Nodes() iter.Seq2[string, NodeView] {
	return func(yield func(string, NodeView) bool) {
		nodes := make(map[string]*node, s.NodeCount())
		s.tree.root.eachPath("", func(path string, n *node) { nodes[cmp.Or(path, "/")] = n })
		for _, path := range slices.Sorted(maps.Keys(nodes)) {
			if !yield(path, nodes[path].view()) {
				return
			}
		}
	}
}

// Below visits the node at a path and the nodes below it, in any order, without checking ACLs. What
// is applied between two of them may be missed.
func (s *Store) Below(path string) iter.Seq2[string, NodeView] {
	return func(yield func(string, NodeView) bool) {
		for left := []string{path}; len(left) > 0; {
			path := left[len(left)-1]
			left = left[:len(left)-1]
			n, ok := s.tree.find(path)
			if !ok {
				continue
			}
			for _, name := range n.children.keys() {
				left = append(left, strings.TrimSuffix(path, "/")+"/"+name)
			}
			if !yield(path, n.view()) {
				return
			}
		}
	}
}

// SetCreated sets the number of children ever created at a node, as a server does that
// loads its tree from a snapshot: without a Txn, a zxid or an event. Stores that are to
// stay equal need the same calls. It panics if there is no such node, or if its number
// is greater already; a negative number has overflowed and is greater than any other.
//
// Source: DataTree.deserialize, PrepRequestProcessor.getParentRecord.
func (s *Store) SetCreated(path string, created int32) {
	n, ok := s.tree.find(path)
	if !ok || created >= 0 && created < n.counter {
		panic(fmt.Sprintf("state: set %d created children of %q, which does not exist or "+
			"has had more",
			created, path))
	}
	n.counter = created
	s.tree.digest.update(path, n)
}
