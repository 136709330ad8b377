package recipes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// turnsOf makes a selector with a leader that leads until its context ends, and a channel of its
// turns and of the causes of their ends.
func turnsOf(
	c Conn, id string,
) (sel *LeaderSelector, turns chan context.Context, causes chan error) {
	turns, causes = make(chan context.Context), make(chan error)
	sel = NewLeaderSelector(c, "/e", id, LeaderFunc(func(ctx context.Context) {
		select {
		case turns <- ctx:
		case <-ctx.Done():
			return
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
	}))
	return sel, turns, causes
}

func mustStart(t *testing.T, sel *LeaderSelector) {
	t.Helper()
	mustDo(t, sel.Start())
}

func TestSelectorLeadsOnceAndAgainWhenStarted(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		sel, turns, causes := turnsOf(c, "a")
		if sel.Interrupt() {
			t.Error("interrupted nobody")
		}
		for range 3 {
			mustStart(t, sel)
			mustStart(t, sel) // changes nothing
			<-turns
			s.WantBelow(t, "/e", 1)
			if !sel.HasLeadership() || !sel.Interrupt() {
				t.Error("does not lead")
			}
			check.Is(t, <-causes, ErrInterrupted)
			time.Sleep(time.Minute)
			s.WantBelow(t, "/e", 0)
		}
		mustClose(t, sel)
		check.Is(t, sel.Start(), ErrClosed)
	})
}

func TestInterruptsAndExpiriesDoNotEndTurns(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		sel, turns, causes := turnsOf(c, "a")
		mustStart(t, sel.AutoRequeue())
		for range 2 {
			<-turns
			c.Expire()
			check.Is(t, <-causes, ErrLeadershipLost)
			<-turns
			sel.Interrupt()
			sel.Interrupt() // twice: CURATOR-73
			check.Is(t, <-causes, ErrInterrupted)
		}
		if LeaderEpoch(<-turns) == 0 || LeaderEpoch(t.Context()) != 0 {
			t.Error("epochs")
		}
		closing := waiting(t, sel.Close)
		check.Is(t, <-causes, ErrClosed)
		wantAll(t, closing)
		s.WantBelow(t, "/e", 0)
	})
}

// TestNextLeaderWaitsForTheLast: an interrupted leader keeps its node until it has returned.
func TestNextLeaderWaitsForTheLast(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		release := make(chan struct{})
		slow := NewLeaderSelector(c, "/e", "slow", LeaderFunc(func(context.Context) { <-release }))
		mustStart(t, slow)
		time.Sleep(time.Second)
		next, turns, causes := turnsOf(s.Connect(), "next")
		mustStart(t, next)
		slow.Interrupt()
		time.Sleep(time.Minute)
		if leader, _, err := next.Leader(t.Context()); leader.ID != "slow" || err != nil ||
			next.HasLeadership() {
			t.Errorf("leader %v, %v", leader, err)
		}
		close(release)
		<-turns
		next.Interrupt()
		<-causes
		mustClose(t, slow, next)
	})
}

// TestStartAtTheEndOfATerm makes the candidate stand again, whenever it comes: in TakeLeadership,
// or while its node is removed.
func TestStartAtTheEndOfATerm(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var terms atomic.Int32
		var sel *LeaderSelector
		sel = NewLeaderSelector(c, "/e", "a", LeaderFunc(func(context.Context) {
			if terms.Add(1) == 1 {
				mustStart(t, sel)
				mustStart(t, sel) // for one term, however often
			}
		}))
		for _, want := range []int32{2, 4} {
			mustStart(t, sel)
			time.Sleep(time.Minute)
			check.Equal(t, terms.Load(), want, "terms")
			synctest.Wait()
			c.On("delete", 1, rule{Before: func() { mustStart(t, sel) }})
		}
		s.WantBelow(t, "/e", 0)
		mustClose(t, sel)
	})
}

// TestCloseByTheLeaderItself does not wait for ever if it is given the leader's context, as Close
// ends that.
func TestCloseByTheLeaderItself(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var took time.Duration
		var sel *LeaderSelector
		led := make(chan error)
		sel = NewLeaderSelector(c, "/e", "a", LeaderFunc(func(ctx context.Context) {
			began := time.Now()
			err := sel.Close(ctx)
			took = time.Since(began)
			led <- err
		})).AutoRequeue()
		mustStart(t, sel)
		if wantFailure(t, <-led, ErrClosed, Unknown); took > grace {
			t.Errorf("Close after %v", took)
		}
		mustClose(t, sel)
		s.WantBelow(t, "/e", 0)
	})
}
