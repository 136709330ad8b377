package fakezk

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// TestLoadTellsConflictsFromBadNodes: an obstacle on the server is a conflict, an impossible node
// is not.
func TestLoadTellsConflictsFromBadNodes(t *testing.T) {
	s := Start(t)
	mustDo(t, s.Put("/there", nil))
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

func TestLoadOfDeepPaths(t *testing.T) {
	s := Start(t)
	var chain []view.NodeSpec
	path := ""
	for range 1000 {
		path += "/c"
		chain = append(chain, view.NodeSpec{Path: path})
	}
	mustDo(t, s.Load(chain)) // each node needs a look at its parent only
	deep := strings.Repeat("/d", 5000)
	const want = "missing parents have more than 16777216 bytes of paths together; expected less"
	err := s.Load([]view.NodeSpec{{Path: "/a"}, {Path: deep}})
	check.Contains(t, fmt.Sprint(err), want)
	check.Equal(t, len(s.Tree()), 1001, "nodes")
}

func TestLoadEndsWithTheServer(t *testing.T) {
	s := New(Options{})
	s.turns.stopping.Add(1) // as a Stop does that waits for the lock
	for i, nodes := range [][]view.NodeSpec{{{Path: "/a"}}, {{Path: "a"}}} {
		check.Is(t, s.Load(nodes), ErrStopped, "load %d", i)
	}
	s.turns.stopping.Add(-1)
	check.Equal(t, len(s.Tree()), 1, "nodes")
	s.Stop()
	mustDo(t, s.Load([]view.NodeSpec{{Path: "/a"}})) // a stopped server keeps and takes data
	mustDo(t, s.Close())
	check.Is(t, s.Load(nil), ErrStopped, "after Close")
}
