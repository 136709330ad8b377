package recipes_test

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
)

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
