package recipes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestEnsurePathMakesContainersWhereTheServerHasThem(t *testing.T) {
	for name, tc := range map[string]struct {
		refused    error
		containers bool
	}{
		"has them": {nil, true},
		"has none": {errors.New("unknown error: -6"), false},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				if tc.refused != nil {
					c.On("createContainer", 1, rule{Lose: true, Err: tc.refused})
				}
				c.On("createContainer", 1, loseReply)
				for range 2 { // the second time everything exists
					mustDo(t, recipes.EnsurePath(t.Context(), c, "/a/b", recipes.Containers()))
				}
				if n, ok := s.Node("/a/b"); !ok ||
					(n.Kind == znode.ContainerNode) != tc.containers {
					t.Errorf("node %v, %v", ok, n.Kind)
				}
			})
		})
	}
}

func TestEphemeralOfAnotherSessionIsNotAdopted(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		create := func(kind recipes.NodeKind) (recipes.Node, error) {
			return recipes.CreateProtected(t.Context(), c, "/", "n", nil, kind)
		}
		other := s.Connect()
		other.Seed("/n", "")
		check.Is(t, errOf(create(recipes.Ephemeral)), zk.ErrNodeExists)
		other.Expire()
		c.On(
			"create", 1, rule{After: func() { c.ExpireLate(testconn.Stays) }},
		) // the node belongs to the session that has ended
		check.Is(t, errOf(create(recipes.Ephemeral)), zk.ErrNodeExists)
		s.WantBelow(t, "/", 1) // and is not deleted: it goes with its session
		check.Is(t, errOf(create(recipes.NodeKind(9))), zk.ErrBadArguments)
	})
}

func TestAbandonedGuaranteedDeleteGoesOn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "")
		abandon(t, c, "delete", loseRequest, func(ctx context.Context) error {
			err := recipes.GuaranteedDelete(ctx, c, "/n")
			check.Is(t, err, recipes.ErrAmbiguous, "abandoned")
			return err
		})
		s.WantBelow(t, "/", 0)
		s.Seed("/n", "")
		s.Seed("/n/child", "")
		wantFailure(t, recipes.GuaranteedDelete(t.Context(), c, "/n"), zk.ErrNotEmpty, recipes.NotApplied)
	})
}

func TestPersistentNodeOnClosedConnIsInDoubt(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("create", 1, rule{Fault: fault.DropReply, After: c.Close})
		_, err := recipes.CreateProtected(t.Context(), c, "/", "n-", nil, recipes.PersistentSequential)
		if !errors.Is(err, recipes.ErrConnClosed) || recipes.OutcomeOf(err) != recipes.Unknown {
			t.Errorf("CreateProtected: %v", err)
		}
		s.WantBelow(t, "/", 1)
	})
}
