package state

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func container(path string) *proto.Create {
	return createAs(proto.OpCreateContainer, path, proto.FlagContainer, 0)
}

func ttlNode(path string, ttl int64) *proto.Create {
	return createAs(proto.OpCreateTTL, path, proto.FlagTTL, ttl)
}

func TestDeleteContainerChecks(t *testing.T) {
	tests := []struct {
		name string
		by   Caller
		path string
		want proto.ErrCode
	}{
		{"a client", guest(), "/box", proto.BadArguments},
		{"root", Caller{}, "/", proto.BadArguments},
		{"system node", Caller{}, "/zookeeper/quota", proto.BadArguments},
		{"NUL", Caller{}, "/box\x00", proto.BadArguments},
		{"missing", Caller{}, "/no", proto.NoNode},
		{"missing parent", Caller{}, "/no/x", proto.NoNode},
		{"children", Caller{}, "/full", proto.NotEmpty},
		{"ephemeral", Caller{}, "/e", proto.BadVersion},
		{"container", Caller{}, "/box", proto.OK},
		{"ttl", Caller{}, "/ttl", proto.OK},
		{"a plain node in its place", Caller{}, "/plain", proto.OK},
		{"no ACL is checked", Caller{}, "/ro/box", proto.OK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, guest(), container("/box"), container("/full"), create("/full/x"),
				create("/plain"),
				createFlags("/e", 1), ttlNode("/ttl", 5), create("/ro"), container("/ro/box"),
				&proto.SetACL{Path: "/ro", ACL: world(proto.PermRead), Version: -1})
			r := do(t, s, test.by, &proto.DeleteContainer{Path: test.path})
			if r.Err != test.want {
				t.Fatalf("got %s, want %s", r.Err, test.want)
			}
			want := "Deleted " + test.path + ", ChildrenChanged " + parentOf(test.path)
			if got := events(r); r.Err == proto.OK && got != want {
				t.Errorf("fires %s", got)
			}
		})
	}
}

func TestReapable(t *testing.T) {
	s := newStore(t)
	if s.HasReapable() {
		t.Error("a new store has something to reap")
	}
	must(t, s, guest(), container("/never"), container("/used"), create("/used/x"),
		remove("/used/x"),
		container("/full"), create("/full/x"), create("/plain"), create("/plain/x"),
		remove("/plain/x"))
	if got := s.Reapable(1 << 40); !slices.Equal(got, []string{"/used"}) || !s.HasReapable() {
		t.Errorf("%q %v", got, s.HasReapable())
	}
	must(t, s, guest(), remove("/used"), remove("/full/x"), remove("/full"), remove("/never"))
	if s.HasReapable() {
		t.Error("deleted containers are still listed")
	}
}

func TestTTLRunsFromTheLastChange(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), ttlNode("/t", 500))
	made := stat(t, s, "/t").Mtime
	due := func(now int64) bool { return len(s.Reapable(now)) > 0 }
	if due(made+500) || !due(made+501) {
		t.Error("a ttl of 500 ms does not end after 500 ms")
	}
	must(t, s, guest(), set("/t", "x", -1))
	renewed := stat(t, s, "/t").Mtime
	if due(made+501) || !due(renewed+501) {
		t.Error("setData does not renew")
	}
	must(t, s, guest(), create("/t/x"))
	if due(renewed + 501) {
		t.Error("a child does not keep its parent")
	}
	must(t, s, guest(), remove("/t/x"))
	if !due(renewed + 501) {
		t.Error("deleting the child renews")
	}
	check.Equal(t, stat(t, s, "/t").EphemeralOwner, 0)
}

// TestReapableIsInTheServersOrder compares with the order of a real server's deletions.
func TestReapableIsInTheServersOrder(t *testing.T) {
	want := strings.Fields(`box10 t9 box8 box9 AaAa BBBB AaBB BBAa box18 t2 box17 t1 box16 t4
		box15 t3 box14 t6 box13 t5 box12 t8 box11 t7 t0 box19 box4 box5 box6 box7
		box0 box1 box2 box3`)
	s := newStore(t)
	must(t, s, guest(), create("/K"))
	var boxes []string
	for i := range 20 {
		boxes = append(boxes, "/K/box"+strconv.Itoa(i))
	}
	boxes = append(boxes, "/K/AaAa", "/K/BBBB", "/K/AaBB", "/K/BBAa")
	for _, path := range boxes {
		must(t, s, guest(), container(path), create(path+"/x"), remove(path+"/x"))
	}
	for i := range 10 {
		must(t, s, guest(), ttlNode("/K/t"+strconv.Itoa(i), 1))
	}
	var got []string
	for _, path := range s.Reapable(1 << 40) {
		got = append(got, nameOf(path))
	}
	check.Diff(t, got, want)
}
