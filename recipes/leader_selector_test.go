package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestTenSelectorsTakeTurns: with auto-requeue, and on one session, leaders follow each other
// strictly, in the order in which they have queued.
func TestTenSelectorsTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		var log []string
		var epochs []int64
		var selectors []*LeaderSelector
		for i := range 10 {
			selectors = append(selectors,
				NewLeaderSelector(c, "/master", fmt.Sprint(i), LeaderFunc(func(
					ctx context.Context,
				) {
					log = append(log, fmt.Sprint(i, " becomes leader"))
					epochs = append(epochs, LeaderEpoch(ctx))
					sleep(ctx, 50*time.Second)
					log = append(log, fmt.Sprint(i, " leaves"))
				})).AutoRequeue())
			if err := selectors[i].Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(30 * 50 * time.Second)
		for _, sel := range selectors {
			if !sel.HasLeadership() {
				mustClose(t, sel)
			}
		}
		for _, sel := range selectors {
			mustClose(t, sel)
		}
		for turn := range len(log) / 2 {
			who := fmt.Sprint(turn % 10)
			if got, want := strings.Join(log[2*turn:2*turn+2], ", "),
				who+" becomes leader, "+who+" leaves"; got != want {
				t.Fatalf("turn %d: %s; want %s", turn, got, want)
			}
			if turn > 0 && epochs[turn] <= epochs[turn-1] {
				t.Errorf("epoch %d after %d", epochs[turn], epochs[turn-1])
			}
		}
		if len(log) < 50 || len(log)%2 > 0 {
			t.Errorf("%d lines", len(log))
		}
		s.WantBelow(t, "/master", 0)
	})
}

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
	if err := sel.Start(); err != nil {
		t.Fatal(err)
	}
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
		if err := sel.Start(); !errors.Is(err, ErrClosed) {
			t.Errorf("Start after Close: %v", err)
		}
	})
}

func TestInterruptsAndExpiriesDoNotEndTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
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
		if err := <-done; err != nil {
			t.Error(err)
		}
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
		mustClose(t, slow)
		mustClose(t, next)
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
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
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
