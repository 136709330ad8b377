package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// thresholds runs a test of n handles, each with its own connection. In the end only the barrier is
// left.
func thresholds(
	t *testing.T, n int,
	test func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn), opts ...Option,
) {
	open := func(c Conn) *ThresholdBarrier { return NewThresholdBarrier(c, "/gates/t", opts...) }
	handles(t, n, "/gates/t", open, test)
}

func mustSet(t *testing.T, b *ThresholdBarrier, members int) {
	t.Helper()
	mustDo(t, b.Set(t.Context(), members))
}

func wantOpen(t *testing.T, b *ThresholdBarrier, want bool) {
	t.Helper()
	if open, err := b.IsOpen(t.Context()); open != want || err != nil {
		t.Errorf("IsOpen: %v %v, want %v", open, err, want)
	}
}

func TestThresholdBarrierOpensForAllAndStaysOpen(t *testing.T) {
	thresholds(t, 4, func(t *testing.T, s *testServer, m []*ThresholdBarrier, _ []*testConn) {
		early := waiting(t, m[0].Wait) // before it is set
		for range 3 {
			mustSet(t, m[3], 3)
			first, second := early, waiting(t, m[1].Wait)
			wantWaiting(t, first, second)
			wantOpen(t, m[3], false)
			wantAll(t, first, second, waiting(t, m[2].Wait), waiting(t, m[3].Wait))
			wantOpen(t, m[0], true)
			s.WantBelow(t, "/gates/t", 0)
			mustSet(t, m[3], 3)
			early = waiting(t, m[0].Wait)
		}
		mustCloseAll(t, m)
		wantFailure(t, <-early, ErrClosed, NotApplied)
	})
}

// TestMoreThanTheThresholdPass: several calls of one handle are several members.
func TestMoreThanTheThresholdPass(t *testing.T) {
	thresholds(t, 2, func(t *testing.T, s *testServer, m []*ThresholdBarrier, _ []*testConn) {
		mustSet(t, m[0], 9)
		var in []chan error
		for i := range 5 {
			in = append(in, waiting(t, m[i%2].Wait))
		}
		mustSet(t, m[0], 2) // a number that was passed already
		wantAll(t, in...)
	}, RecheckEvery(0))
}

func TestTheThresholdChangesWhileMembersWait(t *testing.T) {
	thresholds(t, 3, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[0], 2)
		first := waiting(t, m[0].Wait)
		mustSet(t, m[2], 3)
		second := waiting(t, m[1].Wait)
		wantWaiting(t, first, second)
		s.Seed("/gates/t", "2") // any client may
		wantAll(t, first, second)
	}, RecheckEvery(0))
}

// TestWhoWasCountedPassesThoughTheNextRoundHasBegun: a slow member misses the opening of the
// barrier, and must not count in the next round.
func TestWhoWasCountedPassesThoughTheNextRoundHasBegun(t *testing.T) {
	thresholds(t, 4, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[3], 2)
		slow := waiting(t, m[0].Wait)
		c[0].Disconnect()
		wantAll(t, waiting(t, m[1].Wait))
		mustSet(t, m[3], 2)
		next := waiting(t, m[1].Wait)
		wantWaiting(t, next) // the member of the round before is not counted
		c[0].Reconnect()
		wantAll(t, slow)
		wantWaiting(t, next)
		wantAll(t, next, waiting(t, m[2].Wait))
	})
}

func TestWhoGivesUpAtTheThresholdIsNotCounted(t *testing.T) {
	thresholds(t, 3, func(t *testing.T, s *testServer, m []*ThresholdBarrier, _ []*testConn) {
		mustSet(t, m[0], 3)
		first := waiting(t, m[0].Wait)
		wantFailure(t, m[1].Wait(within(t, time.Second)), context.DeadlineExceeded, NotApplied)
		s.WantBelow(t, "/gates/t", 1)
		third := waiting(t, m[2].Wait)
		wantWaiting(t, first, third)
		wantAll(t, first, third, waiting(t, m[1].Wait))
	})
}

// TestWhoGivesUpTooLateHasPassed: the member was counted before it could remove its node.
func TestWhoGivesUpTooLateHasPassed(t *testing.T) {
	thresholds(t, 2, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[0], 2)
		ctx, cancel := context.WithCancel(t.Context())
		first := waiting(t, func(context.Context) error { return m[0].Wait(ctx) })
		c[0].On("delete", 1, rule{Before: func() { mustDo(t, m[1].Wait(t.Context())) }})
		cancel()
		wantAll(t, first)
	})
}

// TestWhoComesToAnOpenBarrierDoesNotCountLater: its node is gone when Wait returns nil. Otherwise
// it would count in the next round.
func TestWhoComesToAnOpenBarrierDoesNotCountLater(t *testing.T) {
	thresholds(t, 4, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[3], 2)
		c[0].On("create", 1, rule{Before: func() {
			wantAll(t, waiting(t, m[1].Wait), waiting(t, m[2].Wait))
		}})
		c[0].On("delete", 1, rule{Before: func() {
			mustSet(t, m[3], 2)
			time.Sleep(time.Second)
		}})
		late := waiting(t, m[0].Wait)
		wantWaiting(t, late)
		wantAll(t, late)
		next := waiting(t, m[1].Wait)
		wantWaiting(t, next)
		wantAll(t, next, waiting(t, m[2].Wait))
	})
}

// TestNobodyCountsTwice: a member that comes again must not find the node of its abandoned call.
func TestNobodyCountsTwice(t *testing.T) {
	thresholds(t, 2, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[0], 2)
		c[0].On("delete", 1, rule{Before: func() { time.Sleep(10 * time.Second) }})
		wantFailure(t, m[0].Wait(within(t, time.Second)), context.DeadlineExceeded, Unknown)
		again := waiting(t, m[0].Wait)
		wantWaiting(t, again)
		wantAll(t, again, waiting(t, m[1].Wait))
	})
}

// TestMemberGoneBeforeTheThresholdIsReached: the transaction fails, and the lost member is not
// counted.
func TestMemberGoneBeforeTheThresholdIsReached(t *testing.T) {
	thresholds(t, 3, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		mustSet(t, m[0], 2)
		first := waiting(t, m[0].Wait)
		c[1].On("multi", 1, rule{Before: func() { c[0].Disconnect(); c[0].Expire() }})
		second := waiting(t, m[1].Wait)
		wantWaiting(t, second)
		c[0].Reconnect() // and comes again in its new session
		wantAll(t, first, second)
	})
}

// TestExpiryAtTheThreshold: a member that has lost its session does not know whether it was
// counted, if the next round has begun.
func TestExpiryAtTheThreshold(t *testing.T) {
	for _, late := range []bool{false, true} {
		thresholds(t, 3, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
			mustSet(t, m[2], 2)
			first := waiting(t, m[0].Wait)
			c[0].Disconnect()
			wantAll(t, waiting(t, m[1].Wait))
			mustSet(t, m[2], 2)
			expiry(c[0], late)()
			c[0].Reconnect()
			if late {
				wantAll(t, first)
			} else {
				wantFailure(t, <-first, ErrMemberLost, Unknown)
			}
			next := waiting(t, m[0].Wait)
			wantWaiting(t, next)
			wantAll(t, next, waiting(t, m[1].Wait))
		})
	}
}

// TestSetDoesNotCloseWhatHasOpened: the reply to a set is lost, and meanwhile the barrier has
// opened.
func TestSetDoesNotCloseWhatHasOpened(t *testing.T) {
	thresholds(t, 2, func(t *testing.T, s *testServer, m []*ThresholdBarrier, c []*testConn) {
		first := waiting(t, m[0].Wait)
		fault := loseReply
		fault.After = func() { time.Sleep(time.Second) }
		c[1].On("multi", 1, fault)
		mustSet(t, m[1], 1)
		wantAll(t, first)
		wantOpen(t, m[1], true)
	})
}

func TestBadThresholds(t *testing.T) {
	for _, data := range []string{"0", "-3", "three", "3 ", "127.0.0.1"} {
		thresholds(t, 2, func(t *testing.T, s *testServer, m []*ThresholdBarrier, _ []*testConn) {
			early := waiting(t, m[1].Wait)
			s.Seed("/gates/t", data)
			_, err := m[0].IsOpen(t.Context())
			for _, err := range []error{m[0].Wait(t.Context()), <-early, err} {
				wantFailure(t, err, ErrThreshold, NotApplied)
				check.Contains(t, err.Error(), `/gates/t has "`+data+`"`)
			}
			err = m[0].Set(t.Context(), 0)
			check.Is(t, err, ErrThreshold)
			check.Equal(t, err.Error(), "set threshold barrier /gates/t: not a threshold: "+
				"0 members; expected at least 1")
			mustSet(t, m[0], 1) // mends it
			wantAll(t, waiting(t, m[1].Wait))
		})
	}
}
