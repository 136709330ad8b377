package recipes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// guests makes members, each with its own connection.
func guests(
	s *testServer, n, size int, opts ...Option,
) (members []*DoubleBarrier, conns []*testConn) {
	for range n {
		c := s.Connect()
		members, conns = append(members, NewDoubleBarrier(c, "/d", size, opts...)), append(conns, c)
	}
	return members, conns
}

func wantAll(t *testing.T, results ...chan error) {
	t.Helper()
	for i, result := range results {
		if err := <-result; err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestDoubleBarrierInAndOutTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := guests(s, 3, 3)
		for range 3 {
			in := []chan error{waiting(t, m[0].Enter), waiting(t, m[1].Enter)}
			if len(in[0])+len(in[1]) > 0 {
				t.Error("two have entered")
			}
			if err := m[0].Enter(t.Context()); !errors.Is(err, ErrInside) {
				t.Errorf("entered twice: %v", err)
			}
			wantAll(t, append(in, waiting(t, m[2].Enter))...)
			out := []chan error{waiting(t, m[0].Leave), waiting(t, m[1].Leave)}
			if len(out[0])+len(out[1]) > 0 || closed(m[2].Lost()) || !closed(m[0].Lost()) {
				t.Error("two have left")
			}
			wantAll(t, append(out, waiting(t, m[2].Leave))...)
			s.WantBelow(t, "/d", 0)
		}
		if err := m[0].Leave(t.Context()); !errors.Is(err, ErrNotInside) {
			t.Errorf("left twice: %v", err)
		}
		for _, b := range m {
			mustClose(t, b)
		}
	})
}

func TestMoreThanEnoughAreSeveralGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := guests(s, 5, 2)
		var in []chan error
		for _, b := range m {
			in = append(in, waiting(t, b.Enter))
		}
		wantAll(t, in[:4]...)
		if len(in[4]) > 0 {
			t.Error("the fifth has entered")
		}
		first, second := waiting(t, m[0].Leave), waiting(t, m[1].Leave)
		wantAll(t, first, second) // one group does not wait for the other
		again := waiting(t, m[0].Enter)
		wantAll(t, in[4], again)
		for _, b := range m {
			mustClose(t, b)
		}
		s.WantBelow(t, "/d", 0)
	})
}

func TestWhoGivesUpIsNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := guests(s, 3, 3)
		first := waiting(t, m[0].Enter)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m[1].Enter(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			!errors.Is(err, ErrAmbiguous) {
			t.Errorf("got %v", err)
		}
		third := waiting(t, m[2].Enter)
		if len(first)+len(third) > 0 {
			t.Error("two have entered a barrier for three")
		}
		wantAll(t, first, third, waiting(t, m[1].Enter))
		for _, b := range m {
			mustClose(t, b)
		}
		s.WantBelow(t, "/d", 0)
	})
}

func TestExpiryAtTheDoubleBarrier(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 2, 2)
		first := waiting(t, m[0].Enter)
		c[0].Expire()
		if err := <-first; !errors.Is(err, ErrMemberLost) || OutcomeOf(err) != Unknown {
			t.Errorf("got %v", err)
		}
		wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
		c[1].Expire()
		<-m[1].Lost()
		wantAll(t, waiting(t, m[0].Leave), waiting(t, m[1].Leave))
		s.WantBelow(t, "/d", 0)
		for _, b := range m {
			mustClose(t, b)
		}
	})
}

func TestLostRepliesAtTheDoubleBarrier(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
		for _, op := range []string{"create", "multi", "getW", "children", "delete"} {
			inBubble(t, func(t *testing.T, s *testServer) {
				s.Seed("/d", "")
				m, c := guests(s, 2, 2)
				c[1].On(op, 1, fault)
				wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
				wantAll(t, waiting(t, m[0].Leave), waiting(t, m[1].Leave))
				s.WantBelow(t, "/d", 0)
				for _, b := range m {
					mustClose(t, b)
				}
			})
		}
	}
}

// TestMemberGoneBeforeTheGroupIsFormed: the transaction fails, and the members are counted again.
func TestMemberGoneBeforeTheGroupIsFormed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 3, 2)
		first := waiting(t, m[0].Enter)
		c[1].On("multi", 1, rule{Before: func() { c[0].Expire() }})
		second := waiting(t, m[1].Enter)
		if err := <-first; !errors.Is(err, ErrMemberLost) {
			t.Errorf("got %v", err)
		}
		if len(second) > 0 {
			t.Error("entered alone")
		}
		wantAll(t, second, waiting(t, m[2].Enter))
		for _, b := range m {
			mustClose(t, b)
		}
		s.WantBelow(t, "/d", 0)
	})
}

// TestWhoLeavesRemovesDeadGroups: a group without live members cannot remove its own node.
func TestWhoLeavesRemovesDeadGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 4, 2)
		wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
		wantAll(t, waiting(t, m[2].Enter), waiting(t, m[3].Enter))
		c[0].Expire()
		c[1].Expire()
		s.WantBelow(t, "/d", 4)
		wantAll(t, waiting(t, m[2].Leave), waiting(t, m[3].Leave))
		s.WantBelow(t, "/d", 0)
		for _, b := range m {
			mustClose(t, b)
		}
	})
}

func TestAbandonedLeaveAndCloseLeaveNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := guests(s, 2, 2)
		wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m[0].Leave(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		s.WantBelow(t, "/d", 2) // the other and the group
		mustClose(t, m[1])      // inside
		s.WantBelow(t, "/d", 0)
		if err := m[0].Leave(t.Context()); err != nil {
			t.Errorf("Leave again: %v", err)
		}
		mustClose(t, m[0])
		if err := m[0].Enter(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Enter after Close: %v", err)
		}
	})
}

// TestLeaveWithADoneContextLeaves: the caller does not wait, but leaves.
func TestLeaveWithADoneContextLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 2, 2)
		wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m[0].Leave(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.WantBelow(t, "/d", 2) // the other and the group
		c[1].Disconnect()
		if err := m[1].Leave(gone); !errors.Is(err, context.Canceled) ||
			!errors.Is(err, ErrAmbiguous) {
			t.Errorf("got %v", err)
		}
		c[1].Reconnect()
		for _, b := range m {
			mustClose(t, b)
			if err := b.Leave(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("Leave after Close: %v", err)
			}
		}
		s.WantBelow(t, "/d", 0)
	})
}

// TestWhoFormsAnothersGroupFormsItsOwn: the first member was disconnected right after it came, so
// the second finds two groups to form.
func TestWhoFormsAnothersGroupFormsItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 2, 1, RecheckEvery(0))
		c[0].On("getW", 1, rule{Before: func() { time.Sleep(time.Minute) }})
		first, second := waiting(t, m[0].Enter), waiting(t, m[1].Enter)
		if len(second) == 0 {
			t.Error("the second waits for ever")
		}
		for _, b := range m {
			mustClose(t, b)
		}
		<-first
		<-second
		s.WantBelow(t, "/d", 0)
	})
}

// TestLeaveIsNotMisledByALaggingServer: without a sync, the server of a new session does not know
// the other member yet.
func TestLeaveIsNotMisledByALaggingServer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 2, 2)
		wantAll(t, waiting(t, m[0].Enter), waiting(t, m[1].Enter))
		c[0].Expire()
		c[0].On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c[0].On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c[0].On("sync", 1, rule{After: c[0].Off})
		left := waiting(t, m[0].Leave)
		if len(left) > 0 {
			t.Error("left before the other")
		}
		wantAll(t, left, waiting(t, m[1].Leave))
		for _, b := range m {
			mustClose(t, b)
		}
		s.WantBelow(t, "/d", 0)
	})
}

func TestRefusedGroup(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := guests(s, 1, 1)
		c[0].On("multi", 1, refusal)
		if err := m[0].Enter(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got %v", err)
		}
		s.WantBelow(t, "/d", 0)
		mustClose(t, m[0])
	})
}
