package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestSessionsAreListedByID(t *testing.T) {
	s := newStore(t)
	want := []SessionInfo{
		{ID: s1, Password: [16]byte{1}, TimeoutMs: 4000},
		{ID: s2, Password: [16]byte{2}, TimeoutMs: 8000},
	}
	check.Diff(t, s.Sessions(), want)
	if got, ok := s.Session(s2); !ok || got != want[1] {
		t.Errorf("%+v %v", got, ok)
	}
	if got, ok := s.Session(3); ok {
		t.Errorf("%+v", got)
	}
}

func TestCloseDeletesEphemeralsInOneTransaction(t *testing.T) {
	s := newStore(t)
	must(t, s, asAlice(), create("/p"), createFlags("/p/z", 1),
		&proto.Create{Code: proto.OpCreate, Path: "/p/a", Flags: 1, ACL: aliceOnly},
		createFlags("/m", 1), createFlags("/gone", 1), remove("/gone"),
		&proto.SetACL{Path: "/p", ACL: world(proto.PermRead), Version: -1})
	must(t, s, Caller{Session: s2}, createFlags("/other", 1))

	txn := s.PrepareCloseSession(s1, 77)
	want := Txn{ // the order of a clone of Java's HashSet
		Zxid: s.LastZxid() + 1, Time: 77, Session: s1, Op: proto.OpCloseSession,
		Changes: []Change{
			DeleteNode{Path: "/p/z"}, DeleteNode{Path: "/p/a"}, DeleteNode{Path: "/m"},
			CloseSession{ID: s1},
		},
	}
	if diff := cmp.Diff(want, txn); diff != "" {
		t.Fatal(diff)
	}
	r := s.Apply(txn)
	wantEvents := "Deleted /p/z, ChildrenChanged /p, Deleted /p/a, ChildrenChanged /p, " +
		"Deleted /m, ChildrenChanged /"
	if got := events(r); got != wantEvents || r.Err != proto.OK || r.Reply != nil {
		t.Errorf("%+v", r)
	}
	if st := stat(t, s, "/p"); st.Pzxid != txn.Zxid || st.NumChildren != 0 || st.Cversion != 4 {
		t.Errorf("%+v", st)
	}
	if _, ok := s.Session(s1); ok {
		t.Error("the session is still there")
	}
	check.Diff(t, s.Ephemerals(s2), []string{"/other"})
}

func TestClosingAnUnknownSessionConsumesAZxid(t *testing.T) {
	s := newStore(t)
	before := imageOf(s)
	if r := s.Apply(s.PrepareCloseSession(0x99, 1)); r.Err != proto.OK || r.Events != nil {
		t.Errorf("%+v", r)
	}
	before.drawZxid()
	wantSame(t, "after closing nothing", before, imageOf(s))
}

func TestCreatingAKnownSessionLeavesItAlone(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), createFlags("/e", 1))
	before := imageOf(s)
	s.Apply(s.PrepareCreateSession(s1, [16]byte{9}, 1, 1))
	before.drawZxid()
	wantSame(t, "after creating it again", before, imageOf(s))
}
