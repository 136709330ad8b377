package recipes

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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

func begin(t *testing.T, sel *LeaderSelector) {
	t.Helper()
	mustDo(t, sel.Start())
}

func TestSelectorLeadsOnceAndAgainWhenStarted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		sel, turns, causes := turnsOf(s.Connect(), "a")
		if sel.Interrupt() {
			t.Error("interrupted nobody")
		}
		for range 3 {
			begin(t, sel)
			begin(t, sel) // changes nothing
			<-turns
			s.WantBelow(t, "/e", 1)
			if !sel.HasLeadership() || !sel.Interrupt() {
				t.Error("does not lead")
			}
			if cause := <-causes; !errors.Is(cause, ErrInterrupted) {
				t.Errorf("cause %v", cause)
			}
			time.Sleep(time.Minute)
			s.WantBelow(t, "/e", 0)
		}
		mustClose(t, sel)
		wantError(t, sel.Start(), ErrClosed)
	})
}

func TestInterruptsAndExpiriesDoNotEndTurns(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		sel, turns, causes := turnsOf(c, "a")
		begin(t, sel.AutoRequeue())
		for round := range 4 {
			<-turns
			want := ErrInterrupted
			if round%2 == 0 {
				c.Expire()
				want = ErrLeadershipLost
			} else {
				sel.Interrupt()
				sel.Interrupt() // twice: CURATOR-73
			}
			if cause := <-causes; !errors.Is(cause, want) {
				t.Errorf("cause %v, want %v", cause, want)
			}
		}
		ctx := <-turns
		if LeaderEpoch(ctx) == 0 || LeaderEpoch(t.Context()) != 0 {
			t.Error("epochs")
		}
		done := make(chan error)
		go func() { done <- sel.Close(t.Context()) }()
		if cause := <-causes; !errors.Is(cause, ErrClosed) {
			t.Errorf("cause %v", cause)
		}
		mustDo(t, <-done)
		s.WantBelow(t, "/e", 0)
	})
}

// TestNextLeaderWaitsForTheLast: an interrupted leader keeps its node until it has returned.
func TestNextLeaderWaitsForTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		release := make(chan struct{})
		slow := NewLeaderSelector(
			s.Connect(), "/e", "slow", LeaderFunc(func(context.Context) { <-release }),
		)
		begin(t, slow)
		time.Sleep(time.Second)
		next, turns, causes := turnsOf(s.Connect(), "next")
		begin(t, next)
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

// TestTermThatIsOverIsNotTaken: the loss comes before the call.
func TestTermThatIsOverIsNotTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		sel := NewLeaderSelector(
			s.Connect(), "/e", "a", LeaderFunc(func(context.Context) { t.Error("called") }),
		)
		held := &hold{ended: make(chan struct{})}
		held.end()
		if sel.lead(&Term{held}) {
			t.Error("says that it has led")
		}
		mustClose(t, sel)
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
				begin(t, sel)
				begin(t, sel) // for one term, however often
			}
		}))
		begin(t, sel)
		time.Sleep(time.Minute)
		if terms.Load() != 2 {
			t.Errorf("%d terms after a Start in the first", terms.Load())
		}
		synctest.Wait()
		c.On("delete", 1, rule{Before: func() { begin(t, sel) }})
		begin(t, sel)
		time.Sleep(time.Minute)
		if terms.Load() != 4 {
			t.Errorf("%d terms after a Start while the node was removed; want 4", terms.Load())
		}
		s.WantBelow(t, "/e", 0)
		mustClose(t, sel)
	})
}

// TestCloseByTheLeaderItself does not wait for ever if it is given the leader's context, as Close
// ends that.
func TestCloseByTheLeaderItself(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var took time.Duration
		var err error
		led := make(chan struct{})
		var sel *LeaderSelector
		sel = NewLeaderSelector(s.Connect(), "/e", "a", LeaderFunc(func(ctx context.Context) {
			defer close(led)
			began := time.Now()
			err = sel.Close(ctx)
			took = time.Since(began)
		})).AutoRequeue()
		begin(t, sel)
		<-led
		if !errors.Is(err, ErrClosed) || OutcomeOf(err) != Unknown || took > grace {
			t.Errorf("Close: %v after %v", err, took)
		}
		mustClose(t, sel)
		s.WantBelow(t, "/e", 0)
	})
}
