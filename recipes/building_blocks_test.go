package recipes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
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
					mustDo(t, EnsurePath(t.Context(), c, "/a/b", Containers()))
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
		create := func(kind NodeKind) (Node, error) {
			return CreateProtected(t.Context(), c, "/", "n", nil, kind)
		}
		other := s.Connect()
		other.Seed("/n", "")
		check.Is(t, errOf(create(Ephemeral)), zk.ErrNodeExists)
		other.Expire()
		c.On(
			"create", 1, rule{After: func() { c.ExpireLate(testconn.Stays) }},
		) // the node belongs to the session that has ended
		check.Is(t, errOf(create(Ephemeral)), zk.ErrNodeExists)
		s.WantBelow(t, "/", 1) // and is not deleted: it goes with its session
		check.Is(t, errOf(create(NodeKind(9))), zk.ErrBadArguments)
	})
}

func TestAbandonedGuaranteedDeleteGoesOn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "")
		abandon(t, c, "delete", loseRequest, func(ctx context.Context) error {
			err := GuaranteedDelete(ctx, c, "/n")
			check.Is(t, err, ErrAmbiguous, "abandoned")
			return err
		})
		s.WantBelow(t, "/", 0)
		s.Seed("/n", "")
		s.Seed("/n/child", "")
		wantFailure(t, GuaranteedDelete(t.Context(), c, "/n"), zk.ErrNotEmpty, NotApplied)
	})
}

func TestPersistentNodeOnClosedConnIsInDoubt(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("create", 1, rule{Fault: fault.DropReply, After: c.Close})
		_, err := CreateProtected(t.Context(), c, "/", "n-", nil, PersistentSequential)
		if !errors.Is(err, ErrConnClosed) || OutcomeOf(err) != Unknown {
			t.Errorf("CreateProtected: %v", err)
		}
		s.WantBelow(t, "/", 1)
	})
}

func TestGuaranteedDeleteWithADoneContext(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "")
		ctx := done(t)
		mustDo(t, GuaranteedDelete(ctx, c, "/n"))
		s.WantBelow(t, "/", 0)
	})
}

// TestARepeatedDeletionSparesTheNextOwner: the request was lost, the session ended, and another
// client has created the node.
func TestARepeatedDeletionSparesTheNextOwner(t *testing.T) {
	closers := map[string]func(t *testing.T, c *testConn) (leave func()){
		"persistent node": func(t *testing.T, c *testConn) func() {
			n := NewPersistentNode(c, "/dir/n", nil, RecheckEvery(0))
			mustKeep(t, n)
			return func() { mustClose(t, n) }
		},
		"member": func(t *testing.T, c *testConn) func() {
			m := NewGroupMember(c, "/dir", "n", nil, RecheckEvery(0))
			mustJoin(t, m)
			return func() { mustClose(t, m) }
		},
		"created node": func(t *testing.T, c *testConn) func() {
			f := &request.NamedEphemeral{Path: "/dir/n"}
			r := request.NewSender(t.Context(), c, request.NewOptions[Option](nil), "", "")
			mustDo(t, f.Create(r, nil))
			return func() {
				mustDo(t, f.Remove(r))
			}
		},
	}
	for name, prepare := range closers {
		for _, fault := range []rule{loseRequest, loseReply, netError, noServer} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					c, next := s.Connect(), s.Connect()
					leave := prepare(t, c)
					fault.After = func() {
						c.Expire()
						next.Seed("/dir/n", "next")
					}
					c.On("delete", 1, fault)
					leave()
					s.WantNode(t, "/dir/n", "next", next.SessionID())
				})
			})
		}
	}
}

// TestADeletionIsRepeatedWhenSomebodyWrites: another client writes to the own node meanwhile.
func TestADeletionIsRepeatedWhenSomebodyWrites(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c, other := s.Connect(), s.Connect()
		n := NewPersistentNode(c, "/dir/n", nil, RecheckEvery(0))
		mustKeep(t, n)
		c.On("delete", 1, rule{Before: func() {
			mustDo(t, errOf(other.Set("/dir/n", []byte("graffiti"), -1)))
		}})
		mustClose(t, n)
		s.WantBelow(t, "/dir", 0)
		check.Equal(t, c.Called("delete"), 2, "deletions")
	})
}

// TestALateDeletionNamesAVersion: the version is that of the intended node. The client sends a
// delayed request in the next session, too.
func TestALateDeletionNamesAVersion(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c, next := s.Connect(), s.Connect()
		n := NewPersistentNode(c, "/dir/n", []byte("1"), RecheckEvery(0))
		mustKeep(t, n)
		mustDo(t, n.Set(t.Context(), []byte("2")))
		c.On("delete", 1, rule{Before: func() {
			c.Expire()
			next.Seed("/dir/n", "next")
		}})
		mustClose(t, n)
		s.WantNode(t, "/dir/n", "next", next.SessionID())
	})
}
