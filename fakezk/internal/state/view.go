package state

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A NodeView is a znode as [Store.Node] and [Store.Nodes] show it, more than a
// client ever sees.
type NodeView struct {
	// Data is nil if the node's data are null.
	Data []byte
	ACL  []proto.ACL
	Stat proto.Stat
	// Kind is KindPlain also for an ephemeral node; the stat has its owner.
	Kind Kind
	// TTLMs is 0 unless Kind is KindTTL.
	TTLMs int64
	// Created is how many children have ever been created, and the number that
	// the next sequential one gets. The stat's Cversion is twice as much less the
	// children that are there.
	Created int32
}

func (n *node) view() NodeView {
	return NodeView{Data: n.data, ACL: n.acl, Stat: n.stat(), Kind: n.kind, TTLMs: n.ttlMs, Created: n.counter}
}

// Node looks at a node without asking its ACL.
func (s *Store) Node(path string) (NodeView, bool) {
	n, ok := s.find(path)
	if !ok {
		return NodeView{}, false
	}
	return n.view(), true
}

// Nodes are all nodes in the order of their paths, without asking ACLs. Nothing
// may be applied while they are gone through.
func (s *Store) Nodes() iter.Seq2[string, NodeView] {
	return func(yield func(string, NodeView) bool) {
		nodes := make(map[string]*node, s.count)
		s.root.eachPath("", func(path string, n *node) { nodes[cmp.Or(path, "/")] = n })
		for _, path := range slices.Sorted(maps.Keys(nodes)) {
			if !yield(path, nodes[path].view()) {
				return
			}
		}
	}
}

// SetCreated sets how many children of a node have ever been created, as a
// server does that loads its tree from a snapshot: no Txn says so, no zxid is
// used up and nothing fires. Stores that are to stay equal need the same calls.
// It panics if there is no such node, or if more have been created than that; a
// negative number is more than any, one that has wrapped.
//
// Source: DataTree.deserialize, PrepRequestProcessor.getParentRecord.
func (s *Store) SetCreated(path string, created int32) {
	n, ok := s.find(path)
	if !ok || created >= 0 && created < n.counter {
		panic(fmt.Sprintf("state: %d children created at %q, which is not there or has had more", created, path))
	}
	n.counter = created
}
