package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Sessions and identities of the tests.
const (
	s1 int64 = 0x11
	s2 int64 = 0x22
)

var (
	alice = proto.ID{Scheme: "digest", ID: "alice:hashA"}
	local = proto.ID{Scheme: "ip", ID: "127.0.0.1"}

	worldAll  = world(proto.PermAll)
	aliceOnly = []proto.ACL{{Perms: proto.PermAll, Scheme: "digest", ID: "alice:hashA"}}
)

func world(perms int32) []proto.ACL {
	return []proto.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}}
}

// guest is s1 with no identity but its address, asAlice s1 with a digest identity.
func guest() Caller   { return Caller{Session: s1, IDs: []proto.ID{local}} }
func asAlice() Caller { return Caller{Session: s1, IDs: []proto.ID{local, alice}} }

// newStore has the sessions s1 (zxid 1) and s2 (zxid 2).
func newStore(t testing.TB) *Store {
	t.Helper()
	s := New(Config{})
	s.Apply(s.PrepareCreateSession(s1, [16]byte{1}, 4000, 100))
	s.Apply(s.PrepareCreateSession(s2, [16]byte{2}, 8000, 200))
	return s
}

// do prepares and applies a write. It checks that Prepare does not change the last zxid
// and that Apply increments it, as with every write that is not skipped.
func do(t testing.TB, s *Store, by Caller, req proto.Request) Result {
	t.Helper()
	before := s.LastZxid()
	txn := s.Prepare(req, by, 1000*(before+1))
	if s.LastZxid() != before || txn.Zxid != before+1 {
		t.Fatalf("%s after zxid %d: prepared %d, store at %d", req.Op(), before, txn.Zxid,
			s.LastZxid())
	}
	r := s.Apply(txn)
	if s.LastZxid() != txn.Zxid {
		t.Fatalf("%s: applied %d, store at %d", req.Op(), txn.Zxid, s.LastZxid())
	}
	return r
}

// must fails the test unless every request succeeds.
func must(t testing.TB, s *Store, by Caller, reqs ...proto.Request) {
	t.Helper()
	for _, req := range reqs {
		if r := do(t, s, by, req); r.Err != proto.OK {
			t.Fatalf("%s: %s", describe(req), r.Err)
		}
	}
}

func describe(req proto.Request) string { return fmt.Sprintf("%s %+v", req.Op(), req) }

func create(path string) *proto.Create {
	return &proto.Create{Code: proto.OpCreate, Path: path, ACL: worldAll, Data: []byte{}}
}

func createFlags(path string, flags int32) *proto.Create {
	c := create(path)
	c.Flags = flags
	return c
}

func createACL(path string, acl []proto.ACL) *proto.Create {
	c := create(path)
	c.ACL = acl
	return c
}

func createAs(code proto.OpCode, path string, flags int32, ttl int64) *proto.Create {
	c := createFlags(path, flags)
	c.Code, c.TTL = code, ttl
	return c
}

func remove(path string) *proto.Delete { return &proto.Delete{Path: path, Version: -1} }

func set(path, data string, version int32) *proto.SetData {
	return &proto.SetData{Path: path, Data: []byte(data), Version: version}
}

func multi(ops ...proto.Request) *proto.Multi { return &proto.Multi{Ops: ops} }

func stat(t testing.TB, s *Store, path string) proto.Stat {
	t.Helper()
	st, err := s.Exists(path)
	if err != proto.OK {
		t.Fatalf("exists %q: %s", path, err)
	}
	return st
}

// events prints events as "Created /a, ChildrenChanged /".
func events(r Result) string {
	var list []string
	for _, e := range r.Events {
		list = append(list, strings.TrimPrefix(e.Type.String(), "Node")+" "+e.Path)
	}
	return strings.Join(list, ", ")
}

// An image is the whole content of a store, orders included, for comparison.
type image struct {
	Last, Drawn      int64
	Count            int
	Nodes            map[string]nodeImage
	Sessions         []SessionInfo
	Owned            map[int64][]string
	Limits           map[string]bool
	Containers, TTLs []string
}

type nodeImage struct {
	Data     []byte
	ACL      []proto.ACL
	Stat     proto.Stat
	Counter  int32
	Kind     Kind
	TTLMs    int64
	Table    int // of the children
	Children []string
}

func imageOf(s *Store) image {
	im := image{
		Last: s.last, Drawn: s.drawn, Count: s.NodeCount(), Nodes: map[string]nodeImage{},
		Sessions: s.Sessions(), Owned: map[int64][]string{}, Limits: maps.Clone(s.quotas.limits),
		Containers: slices.Collect(s.reapable.containers.all()),
		TTLs:       slices.Collect(s.reapable.ttls.all()),
	}
	for path, n := range nodesOf(s) {
		ni := nodeImage{
			Data: n.data, ACL: n.acl, Stat: n.stat(), Counter: n.counter,
			Kind: n.kind, TTLMs: n.ttlMs, Children: n.children.keys(),
		}
		if n.children != nil {
			ni.Table = len(n.children.table)
		}
		im.Nodes[path] = ni
	}
	for _, info := range im.Sessions {
		im.Owned[info.ID] = s.sessions[info.ID].ephemerals.keys()
	}
	return im
}

// drawZxid turns im into the image of the store after one more refused write.
func (im *image) drawZxid() {
	im.Last++
	im.Drawn++
}

func nodesOf(s *Store) map[string]*node {
	nodes := map[string]*node{}
	s.tree.root.eachPath("", func(path string, n *node) { nodes[cmp.Or(path, "/")] = n })
	return nodes
}

func wantSame(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, want, got image) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
