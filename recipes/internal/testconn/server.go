// Package testconn is for the tests of package recipes and package classic: a fakezk.Server, and
// genuine connections to it. A test can watch, interrupt and refuse their requests.
//
// Faults come from fakezk wherever it has them. A Conn itself only counts requests, calls back
// before and after one, and gives the answers that a fakezk.Server never gives: a refusal without a
// reason, the state of a lagging server, and versions and sequence numbers that take years of use.
package testconn

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
)

// longest is the session timeout of all connections: no session of a test ends by itself.
const longest = 24 * time.Hour

// Server is a fakezk.Server in the bubble of a test.
type Server struct {
	*fakezk.Server
	t *testing.T

	mu       sync.Mutex
	versions map[string]int32 // by path: the version minus that of fakezk
	numbers  int32            // the sequence numbers minus those of fakezk
}

// Start returns a server that ends with the test, which must run in a bubble.
func Start(t *testing.T) *Server {
	t.Helper()
	server := fakezk.Start(t, fakezk.Options{MaxSessionTimeout: longest})
	return &Server{Server: server, t: t, versions: map[string]int32{}}
}

// InBubble runs a test in a bubble, with its own server.
func InBubble(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, Start(t)) })
}

// Seed makes a persistent node, or sets its data.
func (s *Server) Seed(path, data string) {
	s.t.Helper()
	if err := s.Put(path, []byte(data)); err != nil {
		s.t.Fatalf("seed %s: %v", path, err)
	}
}

// Delete removes a node and all below it.
func (s *Server) Delete(path string) {
	s.t.Helper()
	if err := s.Remove(path); err != nil {
		s.t.Fatalf("remove %s: %v", path, err)
	}
}

// Number makes directories that number their next sequential children from next on.
func (s *Server) Number(next int32, dirs ...string) {
	s.t.Helper()
	for _, dir := range dirs {
		if err := s.Load([]view.NodeSpec{{Path: dir, Next: next}}); err != nil {
			s.t.Fatalf("number the children of %s from %d: %v", dir, next, err)
		}
	}
}

// Forbid makes nodes unreadable for all clients, until the returned function is called.
func (s *Server) Forbid(paths ...string) (allow func()) {
	s.t.Helper()
	admin := s.Server.Connect(s.t)
	set := func(perms int32) {
		for _, path := range paths {
			if _, err := admin.SetACL(path, zk.WorldACL(perms), -1); err != nil {
				s.t.Errorf("set ACL of %s: %v", path, err)
			}
		}
	}
	set(zk.PermAll &^ zk.PermRead)
	return func() { set(zk.PermAll) }
}

// Below returns the names of the children of a node, sorted.
func (s *Server) Below(path string) []string {
	var names []string
	prefix := strings.TrimSuffix(path, "/") + "/"
	for _, n := range s.Tree() {
		if name, below := strings.CutPrefix(n.Path, prefix); below && name != "" &&
			!strings.Contains(name, "/") {
			names = append(names, s.shown(name))
		}
	}
	slices.Sort(names)
	return names
}

// Node returns a node, if it is there.
func (s *Server) Node(path string) (view.Node, bool) {
	tree := s.Tree()
	at := slices.IndexFunc(tree, func(n view.Node) bool { return s.shown(n.Path) == path })
	if at < 0 {
		return view.Node{}, false
	}
	return tree[at], true
}

// WantBelow checks the number of children of a node at rest.
func (s *Server) WantBelow(t *testing.T, path string, n int) {
	t.Helper()
	synctest.Wait()
	if names := s.Below(path); len(names) != n {
		t.Fatalf("nodes below %s: %v, want %d", path, names, n)
	}
}

// WantNode checks the data and the owner of a node at rest.
func (s *Server) WantNode(t *testing.T, path, data string, owner int64) {
	t.Helper()
	synctest.Wait()
	n, ok := s.Node(path)
	if !ok || string(n.Data) != data || n.Owner != owner {
		t.Errorf("%s: there %v, data %q, owner %d; want %q of %d", path, ok, n.Data, n.Owner,
			data, owner)
	}
}

// WantOwner checks the session that an ephemeral node belongs to.
func (s *Server) WantOwner(t *testing.T, path string, session int64) {
	t.Helper()
	if n, _ := s.Node(path); n.Owner != session {
		t.Fatalf("owner of %q is %d, want %d", path, n.Owner, session)
	}
}
