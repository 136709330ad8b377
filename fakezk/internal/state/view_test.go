package state

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestNodeShowsKindTTLAndCreations(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/plain"), create("/plain/a"), create("/plain/b"),
		remove("/plain/a"),
		createAs(proto.OpCreateContainer, "/container", proto.FlagContainer, 0),
		createAs(proto.OpCreateTTL, "/ttl", proto.FlagTTL, 77),
		createFlags("/ephemeral", proto.FlagEphemeral))
	type facts struct {
		Kind    Kind
		TTLMs   int64
		Created int32
	}
	want := map[string]facts{
		"/": {Created: 4}, "/plain": {Created: 2}, "/plain/b": {},
		"/container": {Kind: KindContainer},
		"/ttl":       {Kind: KindTTL, TTLMs: 77}, "/ephemeral": {},
		"/zookeeper": {}, "/zookeeper/config": {}, "/zookeeper/quota": {},
	}
	got := map[string]facts{}
	for path, n := range s.Nodes() {
		got[path] = facts{n.Kind, n.TTLMs, n.Created}
		same, ok := s.Node(path)
		if diff := cmp.Diff(n, same); !ok || diff != "" {
			t.Errorf("%s: Node shows something else: %s", path, diff)
		}
	}
	check.Diff(t, got, want)
	if _, ok := s.Node("/none"); ok {
		t.Error("Node returns a view of a missing node")
	}
}

// TestSetCreatedIsLikeCreations compares a node with a number set by SetCreated and one at which
// the same number of children was created.
func TestSetCreatedIsLikeCreations(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/used"), create("/set"), create("/used/stays"),
		create("/set/stays"))
	for range 4 {
		must(t, s, guest(), create("/used/x"), remove("/used/x"))
	}
	zxid := s.LastZxid()
	s.SetCreated("/set", 5)
	check.Equal(t, s.LastZxid(), zxid, "last zxid")
	if used, set := stat(t, s, "/used"), stat(t, s, "/set"); used.Cversion != 9 ||
		set.Cversion != 9 {
		t.Errorf("cversion %d after SetCreated, %d after creations, want 9", set.Cversion,
			used.Cversion)
	}
	for _, parent := range []string{"/used", "/set"} {
		want := proto.PathReply{Path: parent + "/n0000000005"}
		r := do(t, s, guest(), createFlags(parent+"/n", proto.FlagPersistentSequential))
		check.Equal[proto.Reply](t, r.Reply, want)
	}
}

func TestSetCreatedUpToTheLastNumber(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/p"))
	s.SetCreated("/p", math.MaxInt32)
	want := proto.PathReply{Path: "/p/n2147483647"}
	r := do(t, s, guest(), createFlags("/p/n", proto.FlagPersistentSequential))
	check.Equal[proto.Reply](t, r.Reply, want)
	if n, _ := s.Node("/p"); n.Created != math.MaxInt32 {
		t.Errorf("created %d", n.Created)
	}
}

func TestSetCreatedMakesAContainerAUsedOne(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), createAs(proto.OpCreateContainer, "/c", proto.FlagContainer, 0))
	if got := s.Reapable(0); len(got) != 0 {
		t.Errorf("unused, and yet reapable: %q", got)
	}
	s.SetCreated("/c", 1)
	if got := s.Reapable(0); len(got) != 1 {
		t.Errorf("reapable: %q", got)
	}
}

func TestSetCreatedPanicsAtAnImpossibleNumber(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/p"), create("/p/a"), create("/p/b"))
	for _, test := range []struct {
		path    string
		created int32
	}{{"/none", 1}, {"/none", -1}, {"/p", 0}, {"/p", 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", test)
				}
			}()
			s.SetCreated(test.path, test.created)
		}()
	}
}
