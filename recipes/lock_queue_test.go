package recipes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
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

func wantNoDelivery(t *testing.T, q *LockQueue) {
	t.Helper()
	if d, ok, err := q.Poll(t.Context()); d != nil || ok || err != nil {
		t.Fatalf("Poll: %v %v", ok, err)
	}
}

// lockQueueOf is a queue of these elements.
func lockQueueOf(t *testing.T, c Conn, elements ...string) *LockQueue {
	t.Helper()
	q := NewLockQueue(c, "/q")
	for _, e := range elements {
		if err := q.Offer(t.Context(), []byte(e)); err != nil {
			t.Fatalf("Offer: %v", err)
		}
	}
	return q
}

func TestDeliveriesAreAcknowledgedOrReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		q := lockQueueOf(t, s.Connect(), "a", "b")
		rival := NewLockQueue(s.Connect(), "/q")
		a, b := mustDeliver(t, q, "a"), mustDeliver(t, rival, "b")
		wantNoDelivery(t, q)
		if a.Attempt() != 1 || b.Token() <= a.Token() || closed(a.Lost()) {
			t.Errorf(
				"attempt %d, tokens %d %d, lost %v", a.Attempt(), a.Token(), b.Token(),
				closed(a.Lost()),
			)
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
		if err := a.Ack(t.Context()); !errors.Is(err, ErrDeliveryLost) ||
			errors.Is(err, ErrAmbiguous) {
			t.Errorf("Ack after Release: %v", err)
		}
		for _, d := range []*Delivery{again, b} {
			if err := d.Ack(t.Context()); err != nil || !closed(d.Lost()) {
				t.Errorf("Ack: %v", err)
			}
			if err := d.Release(t.Context()); err != nil {
				t.Errorf("Release after Ack: %v", err)
			}
		}
		mustClose(t, q)
		mustClose(t, rival)
		s.WantBelow(t, "/q/items", 0)
		s.WantBelow(t, "/q/dedup", 0)
	})
}

func TestRedeliveryAfterExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q, rival := lockQueueOf(t, c, "a"), NewLockQueue(s.Connect(), "/q")
		first := mustDeliver(t, q, "a")
		taken := make(chan *Delivery)
		go func() {
			d, err := rival.Take(t.Context())
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			taken <- d
		}()
		time.Sleep(time.Hour)
		c.Expire()
		second := <-taken
		<-first.Lost()
		if err := first.Ack(t.Context()); !errors.Is(err, ErrDeliveryLost) {
			t.Errorf("Ack: %v", err)
		}
		if err := first.Release(t.Context()); err != nil {
			t.Errorf("Release: %v", err)
		}
		s.WantBelow(t, "/q/items", 2) // the element and the rival's lock
		if err := second.Ack(t.Context()); err != nil {
			t.Errorf("Ack: %v", err)
		}
		s.WantBelow(t, "/q/items", 0)
		mustClose(t, q)
		mustClose(t, rival)
	})
}

// TestAckInTheNextSession: an element that no other consumer received can be acknowledged after the
// end of the session.
func TestAckInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := lockQueueOf(t, c, "a")
		d := mustDeliver(t, q, "a")
		c.Expire()
		<-d.Lost()
		if err := d.Ack(t.Context()); err != nil {
			t.Errorf("Ack: %v", err)
		}
		s.WantBelow(t, "/q/items", 0)
		mustClose(t, q)
	})
}

func TestLockQueueFaults(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "getW", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					c := s.Connect()
					q := NewLockQueue(c, "/q")
					twice := func() {
						c.Off()
						c.On(op, 1, fault)
						c.On(op, 2, fault)
					}
					for i := range 2 {
						twice()
						if err := q.Offer(t.Context(), fmt.Append(nil, i)); err != nil {
							t.Fatalf("Offer: %v", err)
						}
					}
					for i := range 2 {
						twice()
						released := mustDeliver(t, q, fmt.Sprint(i))
						twice()
						if err := released.Release(t.Context()); err != nil {
							t.Fatalf("Release: %v", err)
						}
						d := mustDeliver(t, q, fmt.Sprint(i))
						if d.Attempt() != 2 {
							t.Errorf("attempt %d", d.Attempt())
						}
						twice()
						if err := d.Ack(t.Context()); err != nil {
							t.Fatalf("Ack: %v", err)
						}
					}
					c.Off()
					mustClose(t, q)
					s.WantBelow(t, "/q/items", 0)
					s.WantBelow(t, "/q/dedup", 0)
				})
			})
		}
	}
}

func TestCloseGivesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		q := lockQueueOf(t, s.Connect(), "a", "b")
		d := mustDeliver(t, q, "a")
		mustDeliver(t, q, "b")
		mustClose(t, q)
		if !closed(d.Lost()) {
			t.Error("not lost")
		}
		s.WantBelow(t, "/q/items", 2)
		if err := d.Ack(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Ack after Close: %v", err)
		}
		if _, err := q.Take(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Take after Close: %v", err)
		}
	})
}

func TestAbandonedTakeHoldsNothing(t *testing.T) {
	for name, fault := range map[string]rule{"applied": loseReply, "not applied": loseRequest} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c := s.Connect()
				q := lockQueueOf(t, c, "a")
				ctx, cancel := context.WithCancel(t.Context())
				fault.After = func() { cancel(); c.Disconnect() }
				c.On("multi", 1, fault)
				if d, err := q.Take(ctx); d != nil || !errors.Is(err, context.Canceled) ||
					!errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Take: %v", err)
				}
				c.Reconnect()
				mustClose(t, q)
				s.WantBelow(t, "/q/items", 1)
			})
		})
	}
}

// TestAckThatNobodyCanTell: the reply to a removal is lost, and with it the session. The element is
// gone; the client that removed it is not known.
func TestAckThatNobodyCanTell(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := lockQueueOf(t, c, "a")
		d := mustDeliver(t, q, "a")
		c.On("multi", 1, rule{Err: zk.ErrSessionExpired, After: func() { c.Expire() }})
		if err := d.Ack(t.Context()); !errors.Is(err, ErrDeliveryLost) ||
			!errors.Is(err, ErrAmbiguous) {
			t.Errorf("Ack: %v", err)
		}
		mustClose(t, q)
	})
}

// TestReleaseOfWhatIsGone: another client deletes the element itself; the lock must not stay.
func TestReleaseOfWhatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := lockQueueOf(t, c, "a")
		d := mustDeliver(t, q, "a")
		if err := c.Delete(d.item, -1); err != nil {
			t.Fatal(err)
		}
		if err := d.Release(t.Context()); err != nil {
			t.Errorf("Release: %v", err)
		}
		s.WantBelow(t, "/q/items", 0)
		mustClose(t, q)
	})
}

// TestDoubtAboutARemovalLasts until the outcome is known: after each possible result of a call, and
// into the next call.
func TestDoubtAboutARemovalLasts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := lockQueueOf(t, c, "a")
		d := mustDeliver(t, q, "a")
		c.On("multi", 1, refusal)
		if err := d.Ack(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
			OutcomeOf(err) != NotApplied {
			t.Errorf("refused: %v", err)
		}
		c.On("multi", 1, loseReply) // and applied
		c.On("multi", 1, refusal)
		if err := d.Ack(t.Context()); !errors.Is(err, zk.ErrNoAuth) || OutcomeOf(err) != Unknown {
			t.Errorf("refused after a lost reply: %v", err)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Ack(done); !errors.Is(err, context.Canceled) || OutcomeOf(err) != Unknown {
			t.Errorf("with a done context: %v", err)
		}
		if err := d.Ack(t.Context()); err != nil {
			t.Errorf("in the end: %v", err)
		}
		mustClose(t, q)
		s.WantBelow(t, "/q/items", 0)
	})
}

// TestAckOfWhatALeftOneHasRemoved: the caller of the first Ack has left, but its request was
// applied.
func TestAckOfWhatALeftOneHasRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := lockQueueOf(t, c, "a")
		d := mustDeliver(t, q, "a")
		ctx, cancel := context.WithCancel(t.Context())
		c.On("multi", 1, rule{Before: func() { cancel(); time.Sleep(time.Second) }})
		if err := d.Ack(ctx); !errors.Is(err, context.Canceled) || OutcomeOf(err) != Unknown {
			t.Errorf("left: %v", err)
		}
		time.Sleep(time.Minute)
		s.WantBelow(t, "/q/items", 0)
		if err := d.Ack(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
		mustClose(t, q)
	})
}

// TestDeliveriesPassOverVersionMinusOne: with that version a late Ack would remove an element that
// another consumer has received.
func TestDeliveriesPassOverVersionMinusOne(t *testing.T) {
	for version := int32(-3); version <= 0; version++ {
		inBubble(t, func(t *testing.T, s *testServer) {
			c := s.Connect()
			q, rival := lockQueueOf(t, c, "a"), NewLockQueue(s.Connect(), "/q")
			s.SetVersion("/q/items/"+s.Below("/q/items")[0], version)
			first := mustDeliver(t, q, "a")
			c.Expire()
			second := mustDeliver(t, rival, "a")
			if err := first.Ack(t.Context()); !errors.Is(err, ErrDeliveryLost) {
				t.Errorf("version %d: Ack of the first: %v", version, err)
			}
			if err := second.Ack(t.Context()); err != nil {
				t.Errorf("version %d: Ack of the second: %v", version, err)
			}
			mustClose(t, q)
			mustClose(t, rival)
			s.WantBelow(t, "/q/items", 0)
		})
	}
}
