package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// mustDeliver polls a delivery of an element.
func mustDeliver(t *testing.T, q *LockQueue, want string) *Delivery {
	t.Helper()
	d, ok, err := q.Poll(t.Context())
	if err != nil || !ok || string(d.Data()) != want {
		t.Fatalf("Poll: %v %v, want %q", ok, err, want)
	}
	return d
}

// lockQueueOf is a queue of these elements.
func lockQueueOf(t *testing.T, c Conn, elements ...string) *LockQueue {
	t.Helper()
	q := NewLockQueue(c, "/q")
	for _, e := range elements {
		mustDo(t, q.Offer(t.Context(), []byte(e)))
	}
	return q
}

// delivered runs a test of a delivery of the only element, after which nothing must be left.
func delivered(
	t *testing.T, test func(t *testing.T, s *testServer, c *testConn, q *LockQueue, d *Delivery),
) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := lockQueueOf(t, c, "a")
		test(t, s, c, q, mustDeliver(t, q, "a"))
		mustClose(t, q)
		s.WantBelow(t, "/q/items", 0)
		s.WantBelow(t, "/q/dedup", 0)
	})
}

func TestDeliveriesAreAcknowledgedOrReleased(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, q *LockQueue, a *Delivery) {
		rival := lockQueueOf(t, s.Connect(), "b")
		b := mustDeliver(t, rival, "b")
		if d, ok, err := q.Poll(t.Context()); d != nil || ok || err != nil {
			t.Fatalf("Poll: %v %v", ok, err)
		}
		if a.Attempt() != 1 || b.Token() <= a.Token() || closed(a.Lost()) {
			t.Errorf("attempt %d, tokens %d %d, lost %v", a.Attempt(), a.Token(), b.Token(),
				closed(a.Lost()))
		}
		for range 2 {
			if err := a.Release(t.Context()); err != nil || !closed(a.Lost()) {
				t.Fatalf("Release: %v, lost %v", err, closed(a.Lost()))
			}
		}
		again := mustDeliver(t, rival, "a")
		if again.Attempt() != 2 || again.Token() <= b.Token() {
			t.Errorf("attempt %d, token %d", again.Attempt(), again.Token())
		}
		wantFailure(t, a.Ack(t.Context()), ErrDeliveryLost, NotApplied) // after Release
		for _, d := range []*Delivery{again, b} {
			if err := d.Ack(t.Context()); err != nil || !closed(d.Lost()) {
				t.Errorf("Ack: %v", err)
			}
			mustDo(t, d.Release(t.Context()))
		}
		mustClose(t, rival)
	})
}

func TestRedeliveryAfterExpiry(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, first *Delivery) {
		rival := NewLockQueue(s.Connect(), "/q")
		var second *Delivery
		taken := waiting(t, func(ctx context.Context) (err error) {
			second, err = rival.Take(ctx)
			return err
		})
		time.Sleep(time.Hour)
		c.Expire()
		wantAll(t, taken)
		<-first.Lost()
		check.Is(t, first.Ack(t.Context()), ErrDeliveryLost)
		mustDo(t, first.Release(t.Context()))
		s.WantBelow(t, "/q/items", 2) // the element and the rival's lock
		mustDo(t, second.Ack(t.Context()))
		mustClose(t, rival)
	})
}

// TestAckInTheNextSession: an element that no other consumer received can be acknowledged after the
// end of the session.
func TestAckInTheNextSession(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, d *Delivery) {
		c.Expire()
		<-d.Lost()
		mustDo(t, d.Ack(t.Context()))
	})
}

func TestCloseGivesBack(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := lockQueueOf(t, c, "a", "b")
		d := mustDeliver(t, q, "a")
		mustDeliver(t, q, "b")
		mustClose(t, q)
		if !closed(d.Lost()) {
			t.Error("not lost")
		}
		s.WantBelow(t, "/q/items", 2)
		check.Is(t, d.Ack(t.Context()), ErrClosed)
	})
}

func TestAbandonedTakeHoldsNothing(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q := lockQueueOf(t, c, "a")
			ctx, leaving := abandoning(t, c, fault)
			c.On("multi", 1, leaving)
			_, err := q.Take(ctx)
			wantFailure(t, err, context.Canceled, Unknown)
			c.Reconnect()
			mustClose(t, q)
			s.WantBelow(t, "/q/items", 1)
		})
	}
}

// TestAckThatNobodyCanTell: the reply to a removal is lost, and with it the session. The element is
// gone; the client that removed it is not known.
func TestAckThatNobodyCanTell(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, d *Delivery) {
		c.On("multi", 1, rule{Err: zk.ErrSessionExpired, After: c.Expire})
		wantFailure(t, d.Ack(t.Context()), ErrDeliveryLost, Unknown)
	})
}

// TestReleaseOfWhatIsGone: another client deletes the element itself; the lock must not stay.
func TestReleaseOfWhatIsGone(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, d *Delivery) {
		mustDo(t, c.Delete(d.Item(), -1))
		mustDo(t, d.Release(t.Context()))
	})
}

// TestDoubtAboutARemovalLasts until the outcome is known: after each possible result of a call, and
// into the next call.
func TestDoubtAboutARemovalLasts(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, d *Delivery) {
		c.On("multi", 1, refusal)
		wantFailure(t, d.Ack(t.Context()), zk.ErrNoAuth, NotApplied)
		c.On("multi", 1, loseReply) // and applied
		c.On("multi", 1, refusal)
		wantFailure(t, d.Ack(t.Context()), zk.ErrNoAuth, Unknown)
		wantFailure(t, d.Ack(done(t)), context.Canceled, Unknown)
		mustDo(t, d.Ack(t.Context()))
	})
}

// TestAckOfWhatALeftOneHasRemoved: the caller of the first Ack has left, but its request was
// applied.
func TestAckOfWhatALeftOneHasRemoved(t *testing.T) {
	delivered(t, func(t *testing.T, s *testServer, c *testConn, _ *LockQueue, d *Delivery) {
		ctx, cancel := context.WithCancel(t.Context())
		c.On("multi", 1, rule{Before: func() { cancel(); time.Sleep(time.Second) }})
		wantFailure(t, d.Ack(ctx), context.Canceled, Unknown)
		time.Sleep(time.Minute)
		s.WantBelow(t, "/q/items", 0)
		mustDo(t, d.Ack(t.Context()))
	})
}

// TestDeliveriesPassOverVersionMinusOne: with that version a late Ack would remove an element that
// another consumer has received.
func TestDeliveriesPassOverVersionMinusOne(t *testing.T) {
	for version := int32(-3); version <= 0; version++ {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q, rival := lockQueueOf(t, c, "a"), NewLockQueue(s.Connect(), "/q")
			s.SetVersion("/q/items/"+s.Below("/q/items")[0], version)
			first := mustDeliver(t, q, "a")
			c.Expire()
			second := mustDeliver(t, rival, "a")
			check.Is(t, first.Ack(t.Context()), ErrDeliveryLost)
			mustDo(t, second.Ack(t.Context()))
			mustClose(t, q, rival)
			s.WantBelow(t, "/q/items", 0)
		})
	}
}
