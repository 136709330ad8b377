package linearizability

import (
	"slices"
	"strings"
)

// Rest is the world some time after the last fault, when nothing moves any more
// by itself. What is left nil is not judged.
type Leftovers struct {
	Nodes    []NodeAtRest
	Waiting  []Wait
	Sessions []SessionAtRest
	// Watches are those still armed at the server. A watch of a client that has no
	// call in flight and holds no lock counts as leaked, so leave out those a recipe
	// may leave.
	Watches []WatchAtRest
	Leaked  []string // descriptions of goroutines that should be gone
	Wedged  []string // descriptions of clients that hang in their own code
}

// NodeAtRest is a znode that exists.
type NodeAtRest struct {
	Path, Data  string
	Owner       int64  // ephemeral owner
	OwnerClient string // whose session that is or was, if known
	Czxid       int64
}

// Wait is a call that has not returned, and the znode whose watch it waits for.
type Wait struct {
	Client string
	Op     string // kind of the operation
	Path   string // znode it watches, or empty if it waits for something else
	Why    string // what it waits for, if not a watch
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

func (r *Leftovers) node(path string) (NodeAtRest, bool) {
	for _, n := range r.Nodes {
		if n.Path == path {
			return n, true
		}
	}
	return NodeAtRest{}, false
}

func (r *Leftovers) wait(client string) (Wait, bool) {
	for _, w := range r.Waiting {
		if w.Client == client {
			return w, true
		}
	}
	return Wait{}, false
}

// below reports whether path lies under dir; everything lies under the empty
// one.
func below(dir, path string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return strings.HasPrefix(path, dir+"/") && path != dir+"/"
}

// withoutWatches leaves out the watches on the object itself. A client that sets one
// as it looks, and then need not wait, cannot take it back, and uses it again; nor can
// one whose client has missed the event.
func (rest *Leftovers) withoutWatches(path string) *Leftovers {
	if rest == nil {
		return nil
	}
	other := *rest
	other.Watches = slices.DeleteFunc(slices.Clone(rest.Watches), func(w WatchAtRest) bool { return w.Path == path })
	return &other
}
