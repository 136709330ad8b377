package recipes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// thresholds makes handles, each with its own connection.
func thresholds(
	s *testServer, n int, opts ...Option,
) (members []*ThresholdBarrier, conns []*testConn) {
	for range n {
		c := s.Connect()
		members, conns = append(members, NewThresholdBarrier(c, "/gates/t", opts...)),
			append(conns, c)
	}
	return members, conns
}

func mustSet(t *testing.T, b *ThresholdBarrier, members int) {
	t.Helper()
	if err := b.Set(t.Context(), members); err != nil {
		t.Fatal(err)
	}
}

// closeAll closes the members and checks that only the barrier is left.
func closeAll(t *testing.T, s *testServer, members []*ThresholdBarrier) {
	t.Helper()
	for _, b := range members {
		mustClose(t, b)
	}
	s.WantBelow(t, "/gates/t", 0)
}

func TestThresholdBarrierOpensForAllAndStaysOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := thresholds(s, 4)
		early := waiting(t, m[0].Wait) // before it is set
		for range 3 {
			mustSet(t, m[3], 3)
			first, second := early, waiting(t, m[1].Wait)
			if open, err := m[3].IsOpen(t.Context()); len(first)+len(second) > 0 || open ||
				err != nil {
				t.Errorf("two have passed: %v %v", open, err)
			}
			wantAll(t, first, second, waiting(t, m[2].Wait), waiting(t, m[3].Wait))
			if open, err := m[0].IsOpen(t.Context()); !open || err != nil {
				t.Errorf("IsOpen: %v %v", open, err)
			}
			s.WantBelow(t, "/gates/t", 0)
			mustSet(t, m[3], 3)
			early = waiting(t, m[0].Wait)
		}
		closeAll(t, s, m)
		if err := <-early; !errors.Is(err, ErrClosed) || OutcomeOf(err) != NotApplied {
			t.Errorf("ended by Close: %v", err)
		}
		if err := m[0].Wait(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Wait after Close: %v", err)
		}
	})
}

// TestMoreThanTheThresholdPass: several calls of one handle are several members.
func TestMoreThanTheThresholdPass(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := thresholds(s, 2, RecheckEvery(0))
		mustSet(t, m[0], 9)
		var in []chan error
		for i := range 5 {
			in = append(in, waiting(t, m[i%2].Wait))
		}
		mustSet(t, m[0], 2) // a number that was passed already
		wantAll(t, in...)
		closeAll(t, s, m)
	})
}

func TestTheThresholdChangesWhileMembersWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 3, RecheckEvery(0))
		mustSet(t, m[0], 2)
		first := waiting(t, m[0].Wait)
		mustSet(t, m[2], 3)
		second := waiting(t, m[1].Wait)
		if len(first)+len(second) > 0 {
			t.Error("two have passed a barrier for three")
		}
		if _, err := c[2].Set("/gates/t", []byte("2"), -1); err != nil { // any client may
			t.Error(err)
		}
		wantAll(t, first, second)
		closeAll(t, s, m)
	})
}

// TestWhoWasCountedPassesThoughTheNextRoundHasBegun: a slow member misses the opening of the
// barrier, and must not count in the next round.
func TestWhoWasCountedPassesThoughTheNextRoundHasBegun(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 4)
		mustSet(t, m[3], 2)
		slow := waiting(t, m[0].Wait)
		c[0].Disconnect()
		wantAll(t, waiting(t, m[1].Wait))
		mustSet(t, m[3], 2)
		next := waiting(t, m[1].Wait)
		if len(next) > 0 {
			t.Error("the member of the round before was counted")
		}
		c[0].Reconnect()
		wantAll(t, slow)
		if len(next) > 0 {
			t.Error("passed alone")
		}
		wantAll(t, next, waiting(t, m[2].Wait))
		closeAll(t, s, m)
	})
}

func TestWhoGivesUpAtTheThresholdIsNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, _ := thresholds(s, 3)
		mustSet(t, m[0], 3)
		first := waiting(t, m[0].Wait)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m[1].Wait(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			OutcomeOf(err) != NotApplied {
			t.Errorf("got %v", err)
		}
		s.WantBelow(t, "/gates/t", 1)
		third := waiting(t, m[2].Wait)
		if len(first)+len(third) > 0 {
			t.Error("two have passed a barrier for three")
		}
		wantAll(t, first, third, waiting(t, m[1].Wait))
		closeAll(t, s, m)
	})
}

// TestWhoGivesUpTooLateHasPassed: the member was counted before it could remove its node.
func TestWhoGivesUpTooLateHasPassed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 2)
		mustSet(t, m[0], 2)
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- m[0].Wait(ctx) }()
		time.Sleep(time.Second)
		c[0].On("delete", 1, rule{Before: func() {
			if err := m[1].Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}})
		cancel()
		wantAll(t, first)
		closeAll(t, s, m)
	})
}

// TestNobodyCountsTwice: a member that comes again must not find the node of its abandoned call.
func TestNobodyCountsTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 2)
		mustSet(t, m[0], 2)
		c[0].On("delete", 1, rule{Before: func() { time.Sleep(10 * time.Second) }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m[0].Wait(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			OutcomeOf(err) != Unknown {
			t.Errorf("got %v", err)
		}
		again := waiting(t, m[0].Wait)
		if len(again) > 0 {
			t.Error("counted twice")
		}
		wantAll(t, again, waiting(t, m[1].Wait))
		closeAll(t, s, m)
	})
}

// TestMemberGoneBeforeTheThresholdIsReached: the transaction fails, and the lost member is not
// counted.
func TestMemberGoneBeforeTheThresholdIsReached(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 3)
		mustSet(t, m[0], 2)
		first := waiting(t, m[0].Wait)
		c[1].On("multi", 1, rule{Before: func() { c[0].Disconnect(); c[0].Expire() }})
		second := waiting(t, m[1].Wait)
		if len(second) > 0 {
			t.Error("passed alone")
		}
		c[0].Reconnect() // and comes again in its new session
		wantAll(t, first, second)
		closeAll(t, s, m)
	})
}

// TestExpiryAtTheThreshold: a member that has lost its session does not know whether it was
// counted, if the next round has begun.
func TestExpiryAtTheThreshold(t *testing.T) {
	for _, late := range []bool{false, true} {
		inBubble(t, func(t *testing.T, s *testServer) {
			m, c := thresholds(s, 3)
			mustSet(t, m[2], 2)
			first := waiting(t, m[0].Wait)
			c[0].Disconnect()
			wantAll(t, waiting(t, m[1].Wait))
			mustSet(t, m[2], 2)
			expiry(c[0], late)()
			c[0].Reconnect()
			err := <-first
			if late && err != nil ||
				!late && (!errors.Is(err, ErrMemberLost) || OutcomeOf(err) != Unknown) {
				t.Errorf("late %v: got %v", late, err)
			}
			next := waiting(t, m[0].Wait)
			if len(next) > 0 {
				t.Error("counted twice")
			}
			wantAll(t, next, waiting(t, m[1].Wait))
			closeAll(t, s, m)
		})
	}
}

func TestLostRepliesAtTheThreshold(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
		for _, op := range []string{
			"create", "multi", "getW", "get", "children", "delete", "sync",
		} {
			inBubble(t, func(t *testing.T, s *testServer) {
				m, c := thresholds(s, 2)
				for range 2 {
					c[1].On(op, 1, fault)
					mustSet(t, m[1], 2)
					c[1].On(op, 1, fault)
					wantAll(t, waiting(t, m[0].Wait), waiting(t, m[1].Wait))
				}
				closeAll(t, s, m)
			})
		}
	}
}

// TestSetDoesNotCloseWhatHasOpened: the reply to a set is lost, and meanwhile the barrier has
// opened.
func TestSetDoesNotCloseWhatHasOpened(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 2)
		first := waiting(t, m[0].Wait)
		fault := loseReply
		fault.After = func() { time.Sleep(time.Second) }
		c[1].On("multi", 1, fault)
		mustSet(t, m[1], 1)
		wantAll(t, first)
		if open, err := m[1].IsOpen(t.Context()); !open || err != nil {
			t.Errorf("IsOpen: %v %v", open, err)
		}
		closeAll(t, s, m)
	})
}

func TestBadThresholds(t *testing.T) {
	for _, data := range []string{"0", "-3", "three", "3 ", "127.0.0.1"} {
		inBubble(t, func(t *testing.T, s *testServer) {
			m, c := thresholds(s, 2)
			early := waiting(t, m[1].Wait)
			if _, err := c[0].Set("/gates/t", []byte(data), -1); err != nil {
				t.Error(err)
			}
			for _, err := range []error{m[0].Wait(t.Context()), <-early} {
				if !errors.Is(err, ErrThreshold) ||
					!strings.Contains(err.Error(), `/gates/t has "`+data+`"`) ||
					OutcomeOf(err) != NotApplied {
					t.Errorf("got %v", err)
				}
			}
			if open, err := m[0].IsOpen(t.Context()); open || !errors.Is(err, ErrThreshold) {
				t.Errorf("IsOpen: %v %v", open, err)
			}
			const refused = "set threshold barrier /gates/t: not a threshold: " +
				"0 members; expected at least 1"
			if err := m[0].Set(t.Context(), 0); !errors.Is(err, ErrThreshold) ||
				err.Error() != refused {
				t.Errorf("Set: %v", err)
			}
			mustSet(t, m[0], 1) // mends it
			wantAll(t, waiting(t, m[1].Wait))
			closeAll(t, s, m)
		})
	}
}

func TestThresholdBarrierOnAClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 1)
		mustSet(t, m[0], 2)
		first := waiting(t, m[0].Wait)
		c[0].Close()
		if err := <-first; !errors.Is(err, ErrConnClosed) || !errors.Is(err, ErrAmbiguous) {
			t.Errorf("got %v", err)
		}
		mustClose(t, m[0])
	})
}

func TestRefusedThreshold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, c := thresholds(s, 1)
		mustSet(t, m[0], 1)
		c[0].On("multi", 1, refusal)
		if err := m[0].Wait(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
			OutcomeOf(err) != NotApplied {
			t.Errorf("got %v", err)
		}
		c[0].On("create", 1, refusal)
		if err := m[0].Wait(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
			OutcomeOf(err) != NotApplied {
			t.Errorf("got %v", err)
		}
		closeAll(t, s, m)
	})
}
