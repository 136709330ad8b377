package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// guests runs a test of n members, each with its own connection. In the end nothing is left.
func guests(
	t *testing.T, n, size int,
	test func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn), opts ...Option,
) {
	open := func(c Conn) *DoubleBarrier { return NewDoubleBarrier(c, "/d", size, opts...) }
	handles(t, n, "/d", open, test)
}

// enter lets members enter, and leave lets them leave.
func enter(t *testing.T, members ...*DoubleBarrier) (in []chan error) {
	for _, m := range members {
		in = append(in, waiting(t, m.Enter))
	}
	return in
}

func leave(t *testing.T, members ...*DoubleBarrier) (out []chan error) {
	for _, m := range members {
		out = append(out, waiting(t, m.Leave))
	}
	return out
}

func TestDoubleBarrierInAndOutTogether(t *testing.T) {
	guests(t, 3, 3, func(t *testing.T, s *testServer, m []*DoubleBarrier, _ []*testConn) {
		for range 3 {
			in := enter(t, m[0], m[1])
			wantWaiting(t, in...)
			check.Is(t, m[0].Enter(t.Context()), ErrInside)
			wantAll(t, append(in, enter(t, m[2])...)...)
			out := leave(t, m[0], m[1])
			if wantWaiting(t, out...); closed(m[2].Lost()) || !closed(m[0].Lost()) {
				t.Error("Lost")
			}
			wantAll(t, append(out, leave(t, m[2])...)...)
			s.WantBelow(t, "/d", 0)
		}
		check.Is(t, m[0].Leave(t.Context()), ErrNotInside)
	})
}

func TestMoreThanEnoughAreSeveralGroups(t *testing.T) {
	guests(t, 5, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, _ []*testConn) {
		in := enter(t, m...)
		wantAll(t, in[:4]...)
		wantWaiting(t, in[4])
		wantAll(t, leave(t, m[0], m[1])...) // one group does not wait for the other
		wantAll(t, append(enter(t, m[0]), in[4])...)
	})
}

func TestWhoGivesUpIsNotCounted(t *testing.T) {
	guests(t, 3, 3, func(t *testing.T, s *testServer, m []*DoubleBarrier, _ []*testConn) {
		in := enter(t, m[0])
		wantFailure(t, m[1].Enter(within(t, time.Second)), context.DeadlineExceeded, Unknown)
		in = append(in, enter(t, m[2])...)
		wantWaiting(t, in...)
		wantAll(t, append(in, enter(t, m[1])...)...)
	})
}

func TestExpiryAtTheDoubleBarrier(t *testing.T) {
	guests(t, 2, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		first := waiting(t, m[0].Enter)
		c[0].Expire()
		wantFailure(t, <-first, ErrMemberLost, Unknown)
		wantAll(t, enter(t, m...)...)
		c[1].Expire()
		<-m[1].Lost()
		wantAll(t, leave(t, m...)...)
		s.WantBelow(t, "/d", 0)
	})
}

// TestMemberGoneBeforeTheGroupIsFormed: the transaction fails, and the members are counted again.
func TestMemberGoneBeforeTheGroupIsFormed(t *testing.T) {
	guests(t, 3, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		first := waiting(t, m[0].Enter)
		c[1].On("multi", 1, rule{Before: func() { c[0].Expire() }})
		second := waiting(t, m[1].Enter)
		check.Is(t, <-first, ErrMemberLost)
		wantWaiting(t, second)
		wantAll(t, append(enter(t, m[2]), second)...)
	})
}

// TestWhoLeavesRemovesDeadGroups: a group without live members cannot remove its own node.
func TestWhoLeavesRemovesDeadGroups(t *testing.T) {
	guests(t, 4, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		wantAll(t, enter(t, m...)...)
		c[0].Expire()
		c[1].Expire()
		s.WantBelow(t, "/d", 4)
		wantAll(t, leave(t, m[2], m[3])...)
		s.WantBelow(t, "/d", 0)
	})
}

func TestAbandonedLeaveAndCloseLeaveNothing(t *testing.T) {
	guests(t, 2, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, _ []*testConn) {
		wantAll(t, enter(t, m...)...)
		check.Is(t, m[0].Leave(within(t, time.Second)), context.DeadlineExceeded)
		s.WantBelow(t, "/d", 2) // the other and the group
		mustClose(t, m[1])      // inside
		s.WantBelow(t, "/d", 0)
		mustDo(t, m[0].Leave(t.Context()))
	})
}

// TestLeaveWithADoneContextLeaves: the caller does not wait, but leaves.
func TestLeaveWithADoneContextLeaves(t *testing.T) {
	guests(t, 2, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		wantAll(t, enter(t, m...)...)
		check.Is(t, m[0].Leave(done(t)), context.Canceled)
		s.WantBelow(t, "/d", 2) // the other and the group
		c[1].Disconnect()
		wantFailure(t, m[1].Leave(done(t)), context.Canceled, Unknown)
		c[1].Reconnect()
		mustCloseAll(t, m)
		check.Is(t, m[1].Leave(t.Context()), ErrClosed)
	})
}

// TestWhoFormsAnothersGroupFormsItsOwn: the first member was disconnected right after it came, so
// the second finds two groups to form.
func TestWhoFormsAnothersGroupFormsItsOwn(t *testing.T) {
	guests(t, 2, 1, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		c[0].On("getW", 1, rule{Before: func() { time.Sleep(time.Minute) }})
		in := enter(t, m...)
		if len(in[1]) == 0 {
			t.Error("the second waits for ever")
		}
		wantAll(t, in...)
	}, RecheckEvery(0))
}

// TestLeaveIsNotMisledByALaggingServer: without a sync, the server of a new session does not know
// the other member yet.
func TestLeaveIsNotMisledByALaggingServer(t *testing.T) {
	guests(t, 2, 2, func(t *testing.T, s *testServer, m []*DoubleBarrier, c []*testConn) {
		wantAll(t, enter(t, m...)...)
		c[0].Expire()
		c[0].On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c[0].On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c[0].On("confirm", 1, rule{After: c[0].Off})
		left := leave(t, m[0])
		wantWaiting(t, left...)
		wantAll(t, append(left, leave(t, m[1])...)...)
	})
}
