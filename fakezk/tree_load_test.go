package fakezk

import (
	"errors"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// TestLoadTellsConflictsFromBadNodes: an obstacle on the server is a conflict, an impossible node
// is not.
func TestLoadTellsConflictsFromBadNodes(t *testing.T) {
	s := Start(t)
	if err := s.Put("/there", nil); err != nil {
		t.Fatal(err)
	}
	owner, _ := rawSession(t, s, DefaultSessionTimeout)
	owner.mustCall(rawCreate("/ephemeral", proto.FlagEphemeral))
	for _, test := range []struct {
		node     view.NodeSpec
		conflict bool
	}{
		{view.NodeSpec{Path: "/there"}, true},
		{view.NodeSpec{Path: "/ephemeral/child"}, true},
		{view.NodeSpec{Path: "/a/.."}, false},
		{view.NodeSpec{Path: "/zookeeper/quota"}, false},
		{view.NodeSpec{Path: "a"}, false},
		{view.NodeSpec{Path: "/a", ACL: []view.ACL{{Perms: 31, Scheme: "nosuch", ID: "x"}}}, false},
	} {
		err := s.Load([]view.NodeSpec{test.node})
		if err == nil || errors.Is(err, ErrConflict) != test.conflict {
			t.Errorf("%s: %v; want an error, a conflict: %v", test.node.Path, err, test.conflict)
		}
	}
}
