package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestDeleteChecksInTheServersOrder(t *testing.T) {
	tests := []struct {
		name    string
		by      Caller
		path    string
		version int32
		want    proto.ErrCode
	}{
		{"no slash", guest(), "a", -1, proto.BadArguments},
		{"empty", guest(), "", -1, proto.BadArguments},
		{"NUL", guest(), "/a\x00", -1, proto.BadArguments},
		{"root, even for super", Caller{Super: true}, "/", -1, proto.BadArguments},
		{"zookeeper", guest(), "/zookeeper", -1, proto.BadArguments},
		{"quota", guest(), "/zookeeper/quota", -1, proto.BadArguments},
		{"config", guest(), "/zookeeper/config", -1, proto.BadArguments},
		{"double slash is not validated", guest(), "//", -1, proto.NoNode},
		{"trailing slash is not validated", guest(), "/a/", -1, proto.NoNode},
		{"dot is not validated", guest(), "/a/.", -1, proto.NoNode},
		{"no parent", guest(), "/no/x", -1, proto.NoNode},
		{"permission on the parent before the node", guest(), "/ro/no", -1, proto.NoAuth},
		{"permission of super", Caller{Super: true}, "/ro/no", -1, proto.NoNode},
		{"no node", guest(), "/no", -1, proto.NoNode},
		{"version before children", guest(), "/a", 5, proto.BadVersion},
		{"version -2 matches nothing", guest(), "/a", -2, proto.BadVersion},
		{"children", guest(), "/a", 0, proto.NotEmpty},
		{"the node's own ACL is not checked", guest(), "/a/private", 0, proto.OK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, asAlice(), create("/a"), createACL("/a/private", aliceOnly),
				createACL("/ro", world(proto.PermRead)))
			r := do(t, s, test.by, &proto.Delete{Path: test.path, Version: test.version})
			check.Equal(t, r.Err, test.want)
		})
	}
}

func TestDeleteFiresDeletedThenChildrenChanged(t *testing.T) {
	s := newStore(t)
	must(t, s, asAlice(), create("/a"), createACL("/a/x", aliceOnly))
	r := do(t, s, guest(), remove("/a/x"))
	want := Result{Events: []Event{
		{Type: proto.EventDeleted, Path: "/a/x", ACL: aliceOnly},
		{Type: proto.EventChildrenChanged, Path: "/a", ACL: worldAll},
	}}
	check.Diff(t, r, want)
}

func TestOthersMayDeleteAnEphemeral(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), createFlags("/e", 1))
	must(t, s, Caller{Session: s2}, remove("/e"))
	if owned := s.Ephemerals(s1); len(owned) != 0 {
		t.Errorf("the owner still has %q", owned)
	}
	must(t, s, guest(), create("/e"))
}

func TestChildrenAreInJavasOrder(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/p"))
	for _, name := range []string{"d", "AaBB", "BBAa", "c", "BBBB", "e"} {
		must(t, s, guest(), create("/p/"+name))
	}
	must(t, s, guest(), remove("/p/d"), remove("/p/AaBB"), create("/p/AaBB"))
	names, st, err := s.Children("/p", guest())
	if err != proto.OK || st.NumChildren != 5 {
		t.Errorf("%s %+v", err, st)
	}
	check.Diff(t, names, []string{"c", "e", "BBAa", "BBBB", "AaBB"})
}
