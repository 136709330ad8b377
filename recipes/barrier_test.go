package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// wantWaiting checks that no result has come.
func wantWaiting(t *testing.T, results ...chan error) {
	t.Helper()
	for i, result := range results {
		if len(result) > 0 {
			t.Errorf("%d has passed", i)
		}
	}
}

func wantSet(t *testing.T, b *Barrier, want bool) {
	t.Helper()
	if up, err := b.IsSet(t.Context()); up != want || err != nil {
		t.Errorf("IsSet: %v %v", up, err)
	}
}

func TestBarrierHoldsBackUntilItIsRemoved(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		b, other := NewBarrier(c, "/gates/b"), NewBarrier(s.Connect(), "/gates/b")
		for _, call := range []func(context.Context) error{b.Wait, b.Remove, b.Set, other.Set} {
			mustDo(t, call(t.Context()))
		}
		wantSet(t, other, true)
		first, second := waiting(t, b.Wait), waiting(t, other.Wait)
		c.Expire()
		time.Sleep(time.Second)
		wantWaiting(t, first, second)
		mustDo(t, other.Remove(t.Context()))
		wantAll(t, first, second)
		mustClose(t, b, other)
		check.Is(t, b.Wait(t.Context()), ErrClosed)
		s.WantBelow(t, "/gates", 0)
	})
}

// barred runs a test in which one client waits at a barrier.
func barred(
	t *testing.T,
	test func(t *testing.T, s *testServer, c *testConn, b *Barrier, passed chan error),
) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/b", "")
		b := NewBarrier(c, "/b", RecheckEvery(0))
		test(t, s, c, b, waiting(t, b.Wait))
		mustClose(t, b)
	})
}

// TestBarrierSetAgainAtOnceLetsPass: waiters for the first barrier pass.
func TestBarrierSetAgainAtOnceLetsPass(t *testing.T) {
	barred(t, func(t *testing.T, s *testServer, _ *testConn, _ *Barrier, passed chan error) {
		s.Delete("/b")
		s.Seed("/b", "")
		wantAll(t, passed)
	})
}

func TestBarrierIsNotMisledByAChangeOfData(t *testing.T) {
	barred(t, func(t *testing.T, s *testServer, c *testConn, b *Barrier, passed chan error) {
		s.Seed("/b", "x")
		time.Sleep(time.Second)
		wantWaiting(t, passed)
		mustDo(t, b.Remove(t.Context()))
		wantAll(t, passed)
	})
}

// TestWaitersOfOneHandleMissNothing: the event comes after the look of one of them, and the other
// takes note of it before that one waits.
func TestWaitersOfOneHandleMissNothing(t *testing.T) {
	barred(t, func(t *testing.T, s *testServer, c *testConn, b *Barrier, first chan error) {
		c.On("get", 1, rule{After: func() {
			s.Delete("/b")
			wantAll(t, first)
		}})
		wantAll(t, waiting(t, b.Wait))
	})
}

// TestWaitIsNotMisledByALaggingServer: without a sync, the server of the new session does not know
// the barrier yet.
func TestWaitIsNotMisledByALaggingServer(t *testing.T) {
	barred(t, func(t *testing.T, _ *testServer, c *testConn, b *Barrier, passed chan error) {
		c.On("getW", 1, rule{Lose: true, Err: zk.ErrNoNode})
		c.On("confirm", 1, rule{After: c.Off})
		c.Expire()
		time.Sleep(time.Second)
		wantWaiting(t, passed)
		mustDo(t, b.Remove(t.Context()))
		wantAll(t, passed)
	})
}

// TestRemoveDoesNotHitTheNextBarrier: the reply to a remove is lost, and meanwhile another client
// sets a new barrier.
func TestRemoveDoesNotHitTheNextBarrier(t *testing.T) {
	for _, fault := range []rule{loseReply, netError} {
		barred(t, func(t *testing.T, s *testServer, c *testConn, b *Barrier, passed chan error) {
			fault.After = func() { s.Seed("/b", "") }
			c.On("delete", 1, fault)
			if err := b.Remove(t.Context()); err != nil || c.Called("delete") != 1 {
				t.Errorf("%v after %d requests", err, c.Called("delete"))
			}
			wantSet(t, b, true)
			wantAll(t, passed)
		})
	}
}

func TestAbandonedBarrierCalls(t *testing.T) {
	barred(t, func(t *testing.T, s *testServer, c *testConn, b *Barrier, passed chan error) {
		wantFailure(t, b.Wait(within(t, time.Second)), context.DeadlineExceeded, NotApplied)
		c.Disconnect()
		check.Is(t, b.Remove(within(t, time.Second)), ErrAmbiguous)
		c.Reconnect()
		wantWaiting(t, passed)
	})
}
