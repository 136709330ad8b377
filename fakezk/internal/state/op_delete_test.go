package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

func TestDeleteChecksInTheServersOrder(t *testing.T) {
	tests := []struct {
		name    string
		by      Caller
		path    string
		version int32
		want    proto.ErrCode
	}{
		{"no slash", nobody(), "a", -1, proto.BadArguments},
		{"empty", nobody(), "", -1, proto.BadArguments},
		{"NUL", nobody(), "/a\x00", -1, proto.BadArguments},
		{"root, even for super", Caller{Super: true}, "/", -1, proto.BadArguments},
		{"zookeeper", nobody(), "/zookeeper", -1, proto.BadArguments},
		{"quota", nobody(), "/zookeeper/quota", -1, proto.BadArguments},
		{"config", nobody(), "/zookeeper/config", -1, proto.BadArguments},
		{"double slash is not validated", nobody(), "//", -1, proto.NoNode},
		{"trailing slash is not validated", nobody(), "/a/", -1, proto.NoNode},
		{"dot is not validated", nobody(), "/a/.", -1, proto.NoNode},
		{"no parent", nobody(), "/no/x", -1, proto.NoNode},
		{"permission on the parent before the node", nobody(), "/ro/no", -1, proto.NoAuth},
		{"permission of super", Caller{Super: true}, "/ro/no", -1, proto.NoNode},
		{"no node", nobody(), "/no", -1, proto.NoNode},
		{"version before children", nobody(), "/a", 5, proto.BadVersion},
		{"version -2 matches nothing", nobody(), "/a", -2, proto.BadVersion},
		{"children", nobody(), "/a", 0, proto.NotEmpty},
		{"nothing is asked of the node itself", nobody(), "/a/private", 0, proto.OK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, asAlice(), create("/a"), createACL("/a/private", aliceOnly),
				createACL("/ro", world(proto.PermRead)))
			r := do(t, s, test.by, &proto.Delete{Path: test.path, Version: test.version})
			if r.Err != test.want {
				t.Errorf("got %s, want %s", r.Err, test.want)
			}
		})
	}
}

func TestDeleteFiresDeletedThenChildrenChanged(t *testing.T) {
	s := newStore(t)
	must(t, s, asAlice(), create("/a"), createACL("/a/x", aliceOnly))
	r := do(t, s, nobody(), remove("/a/x"))
	want := Result{Events: []Event{
		{Type: proto.EventDeleted, Path: "/a/x", ACL: aliceOnly},
		{Type: proto.EventChildrenChanged, Path: "/a", ACL: worldAll},
	}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestOthersMayDeleteAnEphemeral(t *testing.T) {
	s := newStore(t)
	must(t, s, nobody(), createFlags("/e", 1))
	must(t, s, Caller{Session: s2}, remove("/e"))
	if owned := s.Ephemerals(s1); len(owned) != 0 {
		t.Errorf("the owner still has %q", owned)
	}
	must(t, s, nobody(), create("/e"))
}

func TestChildrenAreInJavasOrder(t *testing.T) {
	s := newStore(t)
	must(t, s, nobody(), create("/p"))
	for _, name := range []string{"d", "AaBB", "BBAa", "c", "BBBB", "e"} {
		must(t, s, nobody(), create("/p/"+name))
	}
	must(t, s, nobody(), remove("/p/d"), remove("/p/AaBB"), create("/p/AaBB"))
	names, st, err := s.Children("/p", nobody())
	if diff := cmp.Diff([]string{"c", "e", "BBAa", "BBBB", "AaBB"}, names); diff != "" || err != proto.OK || st.NumChildren != 5 {
		t.Errorf("%s %+v\n%s", err, st, diff)
	}
}
