package linearizability

import (
	"slices"
	"strings"
)

// Leftovers are what is there some time after the last fault, when nothing moves any more by
// itself. A field that is nil is not judged.
type Leftovers struct {
	Nodes    []NodeAtRest
	Waiting  []Wait
	Sessions []SessionAtRest
	// Watches are those still armed at the server. A watch counts as leaked if its client has no
	// call in flight and holds no lock, so leave out those that a recipe may leave.
	Watches []WatchAtRest
	Leaked  []string // descriptions of goroutines that should be gone
	Wedged  []string // descriptions of clients that hang in their own code
}

// NodeAtRest is a znode that exists.
type NodeAtRest struct {
	Path, Data  string
	Owner       int64  // ephemeral owner
	OwnerClient string // the client whose session that is or was, if known
	Czxid       int64
}

// Wait is a call that has not returned, and the znode whose watch it waits for.
type Wait struct {
	Client string
	Op     string // kind of the operation
	Path   string // the znode that it watches; "" if it waits for something else
	Why    string // what it waits for, if not for a watch
}

// SessionAtRest is a live session; Client is empty if no client uses it any more.
type SessionAtRest struct {
	ID     int64
	Client string
}

// WatchAtRest is an armed watch.
type WatchAtRest struct {
	Client, Path string
}

func (left *Leftovers) node(path string) (NodeAtRest, bool) {
	for _, n := range left.Nodes {
		if n.Path == path {
			return n, true
		}
	}
	return NodeAtRest{}, false
}

func (left *Leftovers) wait(client string) (Wait, bool) {
	for _, w := range left.Waiting {
		if w.Client == client {
			return w, true
		}
	}
	return Wait{}, false
}

func (left *Leftovers) hasChild(dir string) bool {
	return slices.ContainsFunc(left.Nodes, func(n NodeAtRest) bool { return below(dir, n.Path) })
}

// withoutWatches leaves out the watches on a path. A client cannot take back a watch that it set
// and then did not need, nor one whose event was lost with the connection; it uses them again.
func (left *Leftovers) withoutWatches(path string) *Leftovers {
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
