package judging

import (
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
)

func NodeAt(left *lin.Leftovers, path string) (lin.NodeAtRest, bool) {
	for _, n := range left.Nodes {
		if n.Path == path {
			return n, true
		}
	}
	return lin.NodeAtRest{}, false
}

func WaitOf(left *lin.Leftovers, client string) (lin.Wait, bool) {
	for _, w := range left.Waiting {
		if w.Client == client {
			return w, true
		}
	}
	return lin.Wait{}, false
}

func HasChild(left *lin.Leftovers, dir string) bool {
	return slices.ContainsFunc(left.Nodes,
		func(n lin.NodeAtRest) bool { return Below(dir, n.Path) })
}

// WithoutWatches leaves out the watches on a path. A client cannot remove a watch that it no longer
// needs, nor a watch that lost its event with the connection. Its later calls use such watches
// again.
func WithoutWatches(left *lin.Leftovers, path string) *lin.Leftovers {
	if left == nil {
		return nil
	}
	other := *left
	other.Watches = slices.DeleteFunc(slices.Clone(left.Watches), func(w lin.WatchAtRest) bool {
		return w.Path == path
	})
	return &other
}

// Below reports whether path lies under dir; every path lies under the empty one.
func Below(dir, path string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return strings.HasPrefix(path, dir+"/") && path != dir+"/"
}

// Within reports whether path is dir or lies under it.
func Within(dir, path string) bool { return path == dir || Below(dir, path) }
