package recipes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// waiting starts to wait, and returns the channel of the result.
func waiting(t *testing.T, wait func(context.Context) error) chan error {
	result := make(chan error, 1)
	go func() { result <- wait(t.Context()) }()
	time.Sleep(time.Second)
	return result
}

func TestBarrierHoldsBackUntilItIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		b, other := NewBarrier(c, "/gates/b"), NewBarrier(s.Connect(), "/gates/b")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(b.Wait(t.Context()))
		must(b.Remove(t.Context()))
		must(b.Set(t.Context()))
		must(other.Set(t.Context()))
		if up, err := other.IsSet(t.Context()); !up || err != nil {
			t.Errorf("IsSet: %v %v", up, err)
		}
		first, second := waiting(t, b.Wait), waiting(t, other.Wait)
		if len(first)+len(second) > 0 {
			t.Error("somebody has passed")
		}
		c.Expire()
		time.Sleep(time.Second)
		if len(first) > 0 {
			t.Error("passed when its session ended")
		}
		must(other.Remove(t.Context()))
		must(<-first)
		must(<-second)
		mustClose(t, b)
		mustClose(t, other)
		if err := b.Wait(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Wait after Close: %v", err)
		}
		s.WantBelow(t, "/gates", 0)
	})
}

// TestBarrierSetAgainAtOnceLetsPass: waiters for the first barrier pass.
func TestBarrierSetAgainAtOnceLetsPass(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/b", "")
		c := s.Connect()
		b := NewBarrier(c, "/b")
		passed := waiting(t, b.Wait)
		s.Delete("/b")
		s.Seed("/b", "")
		if err := <-passed; err != nil {
			t.Error(err)
		}
		mustClose(t, b)
	})
}

func TestBarrierIsNotMisledByAChangeOfData(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/b", "")
		c := s.Connect()
		b := NewBarrier(c, "/b")
		passed := waiting(t, b.Wait)
		if _, err := c.Set("/b", []byte("x"), -1); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if len(passed) > 0 {
			t.Error("passed")
		}
		if err := b.Remove(t.Context()); err != nil || <-passed != nil {
			t.Error(err)
		}
		mustClose(t, b)
	})
}

// TestWaitersOfOneHandleMissNothing: the event comes after the look of one of them, and the other
// takes note of it before that one waits.
func TestWaitersOfOneHandleMissNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/b", "")
		c := s.Connect()
		b := NewBarrier(c, "/b", RecheckEvery(0))
		first := waiting(t, b.Wait)
		c.On("get", 1, rule{After: func() {
			if err := s.Connect().Delete("/b", -1); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			if len(first) == 0 {
				t.Error("the first still waits")
			}
		}})
		second := waiting(t, b.Wait)
		time.Sleep(time.Minute)
		if len(second) == 0 {
			t.Error("the second still waits")
		}
		mustClose(t, b) // ends the remaining waiters
		wantAll(t, first, second)
	})
}

// TestWaitIsNotMisledByALaggingServer: without a sync, the server of the new session does not know
// the barrier yet.
func TestWaitIsNotMisledByALaggingServer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/b", "")
		c := s.Connect()
		b := NewBarrier(c, "/b")
		passed := waiting(t, b.Wait)
		c.On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c.On("sync", 1, rule{After: c.Off})
		c.Expire()
		time.Sleep(time.Second)
		if len(passed) > 0 {
			t.Error("passed")
		}
		if err := b.Remove(t.Context()); err != nil || <-passed != nil {
			t.Error(err)
		}
		mustClose(t, b)
	})
}

// TestRemoveDoesNotHitTheNextBarrier: the reply to a remove is lost, and meanwhile another client
// sets a new barrier.
func TestRemoveDoesNotHitTheNextBarrier(t *testing.T) {
	for _, fault := range []rule{loseReply, netError} {
		inBubble(t, func(t *testing.T, s *testServer) {
			s.Seed("/b", "")
			c := s.Connect()
			fault.After = func() { s.Seed("/b", "") }
			c.On("delete", 1, fault)
			b := NewBarrier(c, "/b")
			if err := b.Remove(t.Context()); err != nil || c.Called("delete") != 1 {
				t.Errorf("%v after %d requests", err, c.Called("delete"))
			}
			if up, err := b.IsSet(t.Context()); !up || err != nil {
				t.Error("it took the next one down, too")
			}
			mustClose(t, b)
		})
	}
}

func TestBarrierRepeatsWhatWasLost(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
		inBubble(t, func(t *testing.T, s *testServer) {
			c := s.Connect()
			c.On("create", 1, fault)
			c.On("delete", 1, fault)
			b := NewBarrier(c, "/b")
			if err := b.Set(t.Context()); err != nil {
				t.Error(err)
			}
			s.WantBelow(t, "/", 1)
			if err := b.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			s.WantBelow(t, "/", 0)
			mustClose(t, b)
		})
	}
}

func TestAbandonedBarrierCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/b", "")
		c := s.Connect()
		b := NewBarrier(c, "/b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, ErrAmbiguous) {
			t.Errorf("Wait: %v", err)
		}
		c.Disconnect()
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Remove(ctx); !errors.Is(err, ErrAmbiguous) {
			t.Errorf("Remove: %v", err)
		}
		c.Reconnect()
		mustClose(t, b)
	})
}

func TestRefusedBarrier(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		c.On("create", 1, refusal)
		b := NewBarrier(c, "/b")
		if err := b.Set(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
			OutcomeOf(err) != NotApplied ||
			err.Error() != "set barrier /b: zk: not authenticated" {
			t.Errorf("got %v", err)
		}
		mustClose(t, b)
	})
}
