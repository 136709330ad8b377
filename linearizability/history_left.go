package linearizability

import (
	"slices"
	"strings"
)

func NodeAt(left *Leftovers, path string) (NodeAtRest, bool) {
	for _, n := range left.Nodes {
		if n.Path == path {
			return n, true
		}
	}
	return NodeAtRest{}, false
}

func WaitOf(left *Leftovers, client string) (Wait, bool) {
	for _, w := range left.Waiting {
		if w.Client == client {
			return w, true
		}
	}
	return Wait{}, false
}

func HasChild(left *Leftovers, dir string) bool {
	return slices.ContainsFunc(left.Nodes, func(n NodeAtRest) bool { return below(dir, n.Path) })
}

// WithoutWatches leaves out the watches on a path. A client cannot remove a watch that it no longer
// needs, nor a watch that lost its event with the connection. Its later calls use such watches
// again.
func WithoutWatches(left *Leftovers, path string) *Leftovers {
	if left == nil {
		return nil
	}
	other := *left
	other.Watches = slices.DeleteFunc(slices.Clone(left.Watches), func(w WatchAtRest) bool {
		return w.Path == path
	})
	return &other
}

// below reports whether path lies under dir; every path lies under the empty one.
func below(dir, path string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return strings.HasPrefix(path, dir+"/") && path != dir+"/"
}

// within reports whether path is dir or lies under it.
func within(dir, path string) bool { return path == dir || below(dir, path) }
