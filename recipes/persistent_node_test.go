package recipes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// wantNode checks the data and owner of a node.
func (s *fakeServer) wantNode(t *testing.T, path, data string, owner int64) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.nodes[path]
	if !ok || string(n.data) != data || n.stat.EphemeralOwner != owner {
		t.Errorf("%s is %v %q, owner %d; want %q of %d", path, ok, n.data, n.stat.EphemeralOwner, data, owner)
	}
}

func mustKeep(t *testing.T, n *PersistentNode) {
	t.Helper()
	if err := n.Keep(t.Context()); err != nil {
		t.Fatalf("Keep: %v", err)
	}
	if !n.Present() || n.Err() != nil {
		t.Fatalf("kept, present %v, %v", n.Present(), n.Err())
	}
}

func mustCloseNode(t *testing.T, s *fakeServer, n *PersistentNode) {
	t.Helper()
	if err := n.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	time.Sleep(10 * time.Second) // what an expired session has left is reaped
	s.wantBelow(t, "/dir", 0)
}

func TestPersistentNodeComesBack(t *testing.T) {
	accidents := map[string]func(s *fakeServer, c *fakeConn, other *fakeConn) error{
		"expiry": func(s *fakeServer, c, _ *fakeConn) error { c.expire(false); return nil },
		"late reap": func(s *fakeServer, c, _ *fakeConn) error {
			old := c.SessionID()
			c.expire(true)
			return s.reapLater(old)
		},
		"deletion": func(_ *fakeServer, _, other *fakeConn) error { return other.Delete("/dir/n", -1) },
		"other data": func(_ *fakeServer, _, other *fakeConn) error {
			_, err := other.Set("/dir/n", []byte("graffiti"), -1)
			return err
		},
		"deletion of the directory": func(_ *fakeServer, _, other *fakeConn) error {
			_, err := other.Multi(&zk.DeleteRequest{Path: "/dir/n", Version: -1}, &zk.DeleteRequest{Path: "/dir", Version: -1})
			return err
		},
	}
	for name, accident := range accidents {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c, other := s.connect(), s.connect()
				n := NewPersistentNode(c, "/dir/n", []byte("data"), RecheckEvery(0))
				mustKeep(t, n)
				s.wantNode(t, "/dir/n", "data", c.SessionID())
				if err := accident(s, c, other); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				s.wantNode(t, "/dir/n", "data", c.SessionID())
				mustKeep(t, n)
				mustCloseNode(t, s, n)
			})
		})
	}
}

// reapLater removes the ephemerals of a session after a while.
func (s *fakeServer) reapLater(session int64) error {
	time.AfterFunc(3*time.Second, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reap(session)
	})
	return nil
}

func TestPersistentNodeSurvivesLostRequests(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
		for nth := 1; nth <= 3; nth++ {
			for _, op := range []string{"existsW", "create", "get", "set", "sync", "delete"} {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					c := s.connect()
					c.on(op, nth, fault)
					n := NewPersistentNode(c, "/dir/n", []byte("1"))
					mustKeep(t, n)
					if err := n.Set(t.Context(), []byte("2")); err != nil {
						t.Errorf("Set: %v", err)
					}
					s.wantNode(t, "/dir/n", "2", c.SessionID())
					mustCloseNode(t, s, n)
				})
			}
		}
	}
}

func TestPersistentNodeExpiresAtAnyRequest(t *testing.T) {
	for nth := 1; nth <= 4; nth++ {
		for _, op := range []string{"existsW", "create", "get", "set", "delete"} {
			for _, late := range []bool{false, true} {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					c := s.connect()
					end := func() {
						if old := c.SessionID(); late {
							s.reapLater(old)
						}
						c.expire(late)
					}
					c.on(op, nth, rule{after: end, err: zk.ErrSessionExpired})
					n := NewPersistentNode(c, "/dir/n", []byte("1"), RecheckEvery(0))
					mustKeep(t, n)
					if err := n.Set(t.Context(), []byte("2")); err != nil {
						t.Errorf("Set: %v", err)
					}
					time.Sleep(10 * time.Second)
					s.wantNode(t, "/dir/n", "2", c.SessionID())
					mustCloseNode(t, s, n)
				})
			}
		}
	}
}

func TestPersistentNodeLeavesWhatIsAnothers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		first, second := NewPersistentNode(s.connect(), "/dir/n", []byte("1")), NewPersistentNode(s.connect(), "/dir/n", []byte("2"), RecheckEvery(0))
		mustKeep(t, first)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := second.Keep(ctx)
		if !errors.Is(err, ErrOccupied) || OutcomeOf(err) != NotApplied || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Keep: %v", err)
		}
		if second.Present() || !errors.Is(second.Err(), ErrOccupied) {
			t.Errorf("present %v, %v", second.Present(), second.Err())
		}
		if err := first.Close(t.Context()); err != nil {
			t.Error(err)
		}
		mustKeep(t, second)
		mustCloseNode(t, s, second)
	})
}

func TestPersistentNodeTellsOfARefusal(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		c.on("create", 1, rule{lose: true, err: zk.ErrNoAuth})
		n := NewPersistentNode(c, "/dir/n", nil)
		if err := n.Keep(t.Context()); !errors.Is(err, zk.ErrNoAuth) || OutcomeOf(err) != NotApplied || !errors.Is(n.Err(), zk.ErrNoAuth) {
			t.Errorf("Keep: %v, %v", err, n.Err())
		}
		time.Sleep(10 * time.Second) // it is wanted all the same
		mustKeep(t, n)
		mustCloseNode(t, s, n)
		if err := n.Keep(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Keep after Close: %v", err)
		}
	})
}

// TestPersistentNodeSaysWhatIsNotKnown: a creation may have been applied before the
// refusal, or is under way.
func TestPersistentNodeSaysWhatIsNotKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		s.seed(t, 0, "/dir", "")
		c := s.connect()
		c.on("create", 1, loseReply)
		c.on("create", 1, rule{lose: true, err: zk.ErrNoAuth})
		n := NewPersistentNode(c, "/dir/n", nil)
		if err := n.Keep(t.Context()); !errors.Is(err, zk.ErrNoAuth) || OutcomeOf(err) != Unknown {
			t.Errorf("Keep: %v", err)
		}
		time.Sleep(time.Second)
		mustKeep(t, n)
		c.on("set", 1, rule{lose: true, err: zk.ErrNoAuth})
		if err := n.Set(t.Context(), []byte("2")); !errors.Is(err, zk.ErrNoAuth) || OutcomeOf(err) != Unknown {
			t.Errorf("Set: %v", err)
		}
		mustCloseNode(t, s, n)
	})
	inBubble(t, func(t *testing.T, s *fakeServer) {
		first, c := NewPersistentNode(s.connect(), "/dir/n", []byte("1")), s.connect()
		mustKeep(t, first)
		second := NewPersistentNode(c, "/dir/n", nil)
		ctx, cancel := context.WithCancel(t.Context())
		c.on("create", 1, rule{before: cancel})
		time.AfterFunc(time.Second, func() { quit(t, first) })
		if err := second.Keep(ctx); errors.Is(err, ErrOccupied) || OutcomeOf(err) != Unknown {
			t.Errorf("Keep: %v", err)
		}
		mustCloseNode(t, s, second)
	})
}

// TestSetWaitsForItsOwnData: what stood in the way of older data says nothing of it.
func TestSetWaitsForItsOwnData(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		n := NewPersistentNode(c, "/dir/n", []byte("1"))
		mustKeep(t, n)
		c.on("set", 1, rule{lose: true, err: zk.ErrNoAuth})
		if err := n.Set(t.Context(), []byte("2")); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Set: %v", err)
		}
		if err := n.Set(t.Context(), []byte("3")); err != nil {
			t.Errorf("Set: %v", err)
		}
		s.wantNode(t, "/dir/n", "3", c.SessionID())
		mustCloseNode(t, s, n)
	})
}

func TestPersistentNodeDoesNotComeBackAfterClose(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		n := NewPersistentNode(c, "/dir/n", nil)
		mustKeep(t, n)
		c.disconnect()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close while cut off: %v", err)
		}
		c.expire(true)
		c.reconnect()
		time.Sleep(time.Second)
		s.mu.Lock()
		s.reap(101)
		s.mu.Unlock()
		time.Sleep(10 * time.Second)
		s.wantBelow(t, "/dir", 0)
	})
}

func TestPersistentNodeOnAClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		c.close()
		n := NewPersistentNode(c, "/dir/n", nil)
		if err := n.Keep(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Keep: %v", err)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}
