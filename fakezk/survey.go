package fakezk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// A survey collects the nodes at and below a path in several turns. What clients change meanwhile
// is looked at again at the end, so the nodes are those of one moment. A real server makes its
// snapshots in the same way, and replays the transactions that came meanwhile.
type survey struct {
	changed map[string]bool // paths since the survey began
}

// located is a node at its path.
type located struct {
	path string
	state.NodeView
}

// nodesBelow lists the node at a path and all below it. Long work has begun.
func (s *Server) nodesBelow(root string) []located {
	s.survey = &survey{changed: map[string]bool{}}
	defer func() { s.survey = nil }()
	var nodes, again []located
	for path, n := range s.engine.Store().Below(root) {
		nodes = append(nodes, located{path, n})
		s.turns.step(1)
	}
	changed := s.survey.changed
	if len(changed) == 0 {
		return nodes
	}
	// The server counts usage without a transaction of its own.
	for path := range s.engine.Store().Below("/zookeeper/quota") {
		changed[path] = true
	}
	for path := range changed {
		if n, ok := s.engine.Store().Node(path); ok && isBelow(path, root) {
			again = append(again, located{path, n})
		}
	}
	nodes = slices.DeleteFunc(nodes, func(n located) bool { return changed[n.path] })
	return append(nodes, again...)
}

// inOrder sorts nodes by path. It needs no lock.
func inOrder(nodes []located) []located {
	slices.SortFunc(nodes, func(a, b located) int { return cmp.Compare(a.path, b.path) })
	return nodes
}

// note notes the paths that transactions have changed. The number of children of a parent changes
// with a child.
func (v *survey) note(applied []engine.Applied) {
	for i := range applied {
		for _, change := range applied[i].Txn.Changes {
			switch c := change.(type) {
			case state.CreateNode:
				v.changed[c.Path], v.changed[parentOf(c.Path)] = true, true
			case state.DeleteNode:
				v.changed[c.Path], v.changed[parentOf(c.Path)] = true, true
			case state.SetData:
				v.changed[c.Path] = true
			case state.SetACL:
				v.changed[c.Path] = true
			}
		}
	}
}

func parentOf(path string) string {
	return cmp.Or(path[:strings.LastIndexByte(path, '/')], "/")
}

// isBelow reports whether a path is that of a node, or of one below it.
func isBelow(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}
