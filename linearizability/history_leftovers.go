package linearizability

import (
	"slices"
	"strings"
)

// Leftovers describe the state at rest: some time after the last fault, when no message is under
// way. A nil field is not judged.
type Leftovers struct {
	Nodes    []NodeAtRest
	Waiting  []Wait
	Sessions []SessionAtRest
	// Watches are armed at the server. A watch counts as leaked if its client has no call in flight
	// and holds no lock, so leave out the watches that a recipe may keep.
	Watches []WatchAtRest
	Leaked  []string // descriptions of goroutines that should be gone
	Wedged  []string // descriptions of clients that hang in their own code
}

// NodeAtRest is a znode that exists.
type NodeAtRest struct {
	Path, Data  string
	Owner       int64  // ephemeral owner
	OwnerClient string // the client of that session, if known
	Czxid       int64
	OfDead      bool // persistent, and its maker has died
	// LostDelete is the step at which a fault lost a delete of the znode; 0 if none did.
	LostDelete int64
}

// Wait is a call that has not returned, and the znode that it watches or polls.
type Wait struct {
	Client string
	Op     string // kind of the operation
	Path   string // "" if it waits for another reason
	Polls  int    // reads of the znode so far, if it polls; 0 if it watches
	Why    string // the reason, if not a watch
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

// withoutWatches leaves out the watches on a path. A client cannot remove a watch that it no longer
// needs, nor a watch that lost its event with the connection. Its later calls use such watches
// again.
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

// within reports whether path is dir or lies under it.
func within(dir, path string) bool { return path == dir || below(dir, path) }
