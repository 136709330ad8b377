package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

func mustKeep(t *testing.T, n *PersistentNode) {
	t.Helper()
	mustDo(t, n.Keep(t.Context()))
	if !n.Present() || n.Err() != nil {
		t.Fatalf("kept, present %v, %v", n.Present(), n.Err())
	}
}

func mustCloseNode(t *testing.T, s *testServer, n *PersistentNode) {
	t.Helper()
	mustDo(t, n.Close(t.Context()))
	time.Sleep(10 * time.Second) // nodes of an expired session are reaped
	s.WantBelow(t, "/dir", 0)
}

func TestPersistentNodeComesBack(t *testing.T) {
	accidents := map[string]func(s *testServer, c *testConn, other *testConn) error{
		"expiry": func(s *testServer, c, _ *testConn) error { c.Expire(); return nil },
		"late reap": func(_ *testServer, c, _ *testConn) error {
			c.ExpireLate(3 * time.Second)
			return nil
		},
		"deletion": func(_ *testServer, _, other *testConn) error {
			return other.Delete("/dir/n", -1)
		},
		"other data": func(_ *testServer, _, other *testConn) error {
			_, err := other.Set("/dir/n", []byte("graffiti"), -1)
			return err
		},
		"deletion of the directory": func(_ *testServer, _, other *testConn) error {
			_, err := other.Multi(&zk.DeleteRequest{Path: "/dir/n", Version: -1},
				&zk.DeleteRequest{Path: "/dir", Version: -1})
			return err
		},
	}
	for name, accident := range accidents {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c, other := s.Connect(), s.Connect()
				n := NewPersistentNode(c, "/dir/n", []byte("data"), RecheckEvery(0))
				mustKeep(t, n)
				s.WantNode(t, "/dir/n", "data", c.SessionID())
				mustDo(t, accident(s, c, other))
				time.Sleep(10 * time.Second)
				s.WantNode(t, "/dir/n", "data", c.SessionID())
				mustKeep(t, n)
				mustCloseNode(t, s, n)
			})
		})
	}
}

func TestPersistentNodeLeavesWhatIsAnothers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		first, second := NewPersistentNode(s.Connect(), "/dir/n", []byte("1")),
			NewPersistentNode(s.Connect(), "/dir/n", []byte("2"), RecheckEvery(0))
		mustKeep(t, first)
		ctx := within(t, time.Minute)
		err := second.Keep(ctx)
		if !errors.Is(err, ErrOccupied) || OutcomeOf(err) != NotApplied ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Keep: %v", err)
		}
		if second.Present() || !errors.Is(second.Err(), ErrOccupied) {
			t.Errorf("present %v, %v", second.Present(), second.Err())
		}
		mustClose(t, first)
		mustKeep(t, second)
		mustCloseNode(t, s, second)
	})
}

func TestPersistentNodeTellsOfARefusal(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("create", 1, refusal)
		n := NewPersistentNode(c, "/dir/n", nil)
		if err := n.Keep(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
			OutcomeOf(err) != NotApplied ||
			!errors.Is(n.Err(), zk.ErrNoAuth) {
			t.Errorf("Keep: %v, %v", err, n.Err())
		}
		time.Sleep(10 * time.Second) // it is wanted all the same
		mustKeep(t, n)
		mustCloseNode(t, s, n)
		check.Is(t, n.Keep(t.Context()), ErrClosed)
	})
}

// TestPersistentNodeSaysWhatIsNotKnown: a creation may have been applied before the refusal, or be
// under way.
func TestPersistentNodeSaysWhatIsNotKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/dir", "")
		c := s.Connect()
		c.On("create", 1, loseReply)
		c.On("create", 1, refusal)
		n := NewPersistentNode(c, "/dir/n", nil)
		wantFailure(t, n.Keep(t.Context()), zk.ErrNoAuth, Unknown)
		time.Sleep(time.Second)
		mustKeep(t, n)
		c.On("set", 1, refusal)
		wantFailure(t, n.Set(t.Context(), []byte("2")), zk.ErrNoAuth, Unknown)
		mustCloseNode(t, s, n)
	})
	inBubble(t, func(t *testing.T, s *testServer) {
		first, c := NewPersistentNode(s.Connect(), "/dir/n", []byte("1")), s.Connect()
		mustKeep(t, first)
		second := NewPersistentNode(c, "/dir/n", nil)
		ctx, cancel := context.WithCancel(t.Context())
		c.On("create", 1, rule{Before: cancel})
		time.AfterFunc(time.Second, func() { mustClose(t, first) })
		if err := second.Keep(ctx); errors.Is(err, ErrOccupied) || OutcomeOf(err) != Unknown {
			t.Errorf("Keep: %v", err)
		}
		mustCloseNode(t, s, second)
	})
}

// TestSetWaitsForItsOwnData: an error of older data does not end the wait for newer data.
func TestSetWaitsForItsOwnData(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		n := NewPersistentNode(c, "/dir/n", []byte("1"))
		mustKeep(t, n)
		c.On("set", 1, refusal)
		check.Is(t, n.Set(t.Context(), []byte("2")), zk.ErrNoAuth)
		mustDo(t, n.Set(t.Context(), []byte("3")))
		s.WantNode(t, "/dir/n", "3", c.SessionID())
		mustCloseNode(t, s, n)
	})
}

func TestPersistentNodeDoesNotComeBackAfterClose(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		n := NewPersistentNode(c, "/dir/n", nil)
		mustKeep(t, n)
		c.Disconnect()
		ctx := within(t, time.Second)
		check.Is(t, n.Close(ctx), context.DeadlineExceeded)
		c.ExpireLate(time.Second)
		c.Reconnect()
		time.Sleep(time.Second)
		time.Sleep(10 * time.Second)
		s.WantBelow(t, "/dir", 0)
	})
}
