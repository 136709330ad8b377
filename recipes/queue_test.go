package recipes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
)

func newQueues(c Conn) []queuer {
	return []queuer{
		NewQueue(c, "/q"), evenQueue{NewPriorityQueue(c, "/q")},
		presentQueue{NewDelayQueue(c, "/q")},
	}
}

// evenQueue is a priority queue with elements of one priority.
type evenQueue struct{ *PriorityQueue }

func (q evenQueue) Offer(ctx context.Context, data []byte) error {
	return q.PriorityQueue.Offer(ctx, data, 7)
}

// presentQueue is a delay queue with elements that are due at once.
type presentQueue struct{ *DelayQueue }

func (q presentQueue) Offer(ctx context.Context, data []byte) error {
	return q.DelayQueue.Offer(ctx, data, time.Time{})
}

// everyQueue runs a test for each kind of queue in a bubble.
func everyQueue(t *testing.T, test func(t *testing.T, s *testServer, newQueue func(Conn) queuer)) {
	for i, name := range []string{"Queue", "PriorityQueue", "DelayQueue"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				test(t, s, func(c Conn) queuer { return newQueues(c)[i] })
			})
		})
	}
}

func mustOffer(t *testing.T, q queuer, data string) {
	t.Helper()
	if err := q.Offer(t.Context(), []byte(data)); err != nil {
		t.Fatalf("Offer %s: %v", data, err)
	}
}

// wantPoll polls; "" stands for an empty queue.
func wantPoll(t *testing.T, q queuer, want string) {
	t.Helper()
	data, ok, err := q.Poll(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Fatalf("Poll: %q %v %v, want %q", data, ok, err, want)
	}
}

// wantTidy checks that no call has left anything.
func wantTidy(t *testing.T, s *testServer) {
	t.Helper()
	s.WantBelow(t, "/q/claims", 0)
	s.WantBelow(t, "/q/dedup", 0)
}

func TestQueueIsFIFO(t *testing.T) {
	for _, first := range []int32{0, -3} {
		everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
			s.NumberFrom(first)
			q := newQueue(s.Connect())
			wantPoll(t, q, "")
			if _, ok, err := q.Peek(t.Context()); ok || err != nil {
				t.Errorf("Peek of an empty queue: %v %v", ok, err)
			}
			for i := range 6 {
				mustOffer(t, q, fmt.Sprint("e", i))
			}
			if data, ok, err := q.Peek(t.Context()); string(data) != "e0" || !ok || err != nil {
				t.Errorf("Peek: %q %v %v", data, ok, err)
			}
			for i := range 6 {
				wantPoll(t, newQueue(s.Connect()), fmt.Sprint("e", i))
			}
			wantPoll(t, q, "")
			wantTidy(t, s)
		})
	}
}

func TestTakeWaits(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
		taken := make(chan string, 3)
		for range 3 {
			q := newQueue(s.Connect())
			go func() {
				data, err := q.Take(t.Context())
				if err != nil {
					t.Errorf("Take: %v", err)
				}
				taken <- string(data)
			}()
		}
		time.Sleep(time.Hour)
		q := newQueue(s.Connect())
		for i := range 3 {
			mustOffer(t, q, fmt.Sprint(i))
			if got := <-taken; got != fmt.Sprint(i) {
				t.Errorf("took %s, want %d", got, i)
			}
			time.Sleep(time.Second)
		}
		wantPoll(t, q, "")
	})
}

func TestRivalsShareElements(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
		producer := newQueue(s.Connect())
		for i := range 20 {
			mustOffer(t, producer, fmt.Sprint(i))
		}
		taken := make(chan string, 20)
		for range 4 {
			q := newQueue(s.Connect())
			go func() {
				for range 5 {
					data, err := q.Take(t.Context())
					if err != nil {
						t.Errorf("Take: %v", err)
					}
					taken <- string(data)
				}
			}()
		}
		seen := map[string]bool{}
		for range 20 {
			seen[<-taken] = true
		}
		if len(seen) != 20 {
			t.Errorf("%d different elements of 20", len(seen))
		}
		wantPoll(t, producer, "")
	})
}

// queueFaults are the faults that a queue must survive.
var queueFaults = map[string]rule{
	"reply": loseReply, "request": loseRequest, "net error": netError, "no server": noServer,
	"expired": {Err: zk.ErrSessionExpired},
}

func TestQueueFaultsNeitherLoseNorDouble(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					c := s.Connect()
					q := NewQueue(c, "/q")
					for _, e := range []string{"a", "b"} {
						c.On(op, 1, fault)
						c.On(op, 2, fault)
						mustOffer(t, q, e)
						c.Off()
					}
					s.WantBelow(t, "/q/items", 2)
					for _, e := range []string{"a", "b", ""} {
						c.On(op, 1, fault)
						c.On(op, 2, fault)
						wantPoll(t, q, e)
						c.Off()
					}
					wantTidy(t, s)
				})
			})
		}
	}
}

func TestRivalTookItWhileReplyWasLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c, rival := s.Connect(), NewQueue(s.Connect(), "/q")
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		c.On("multi", 1, rule{Fault: fault.DropRequest, After: func() { wantPoll(t, rival, "a") }})
		wantPoll(t, q, "b")
		wantTidy(t, s)
	})
}

func TestCancelledPollPutsBack(t *testing.T) {
	for name, fault := range map[string]rule{"applied": loseReply, "not applied": loseRequest} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c := s.Connect()
				q := NewQueue(c, "/q")
				mustOffer(t, q, "a")
				mustOffer(t, q, "b")
				ctx, cancel := context.WithCancel(t.Context())
				fault.After = func() { cancel(); c.Disconnect() }
				c.On("multi", 1, fault)
				if _, ok, err := q.Poll(ctx); ok || !errors.Is(err, context.Canceled) ||
					!errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Poll: %v %v", ok, err)
				}
				c.Reconnect()
				if err := q.Close(t.Context()); err != nil {
					t.Fatalf("Close: %v", err)
				}
				rest := NewQueue(c, "/q")
				for _, e := range []string{"a", "b", ""} {
					wantPoll(t, rest, e)
				}
				wantTidy(t, s)
			})
		})
	}
}

func TestCancelledOfferTellsTheTruthWhenItCan(t *testing.T) {
	for name, tc := range map[string]struct {
		fault rule
		err   error
		items int
	}{
		"applied":     {loseReply, nil, 1},
		"not applied": {loseRequest, context.Canceled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c := s.Connect()
				q := NewQueue(c, "/q")
				wantPoll(t, q, "")
				mustOffer(t, q, "first")
				wantPoll(t, q, "first")
				ctx, cancel := context.WithCancel(t.Context())
				tc.fault.After = cancel
				c.On("multi", 1, tc.fault)
				if err := q.Offer(ctx, []byte("a")); !errors.Is(err, tc.err) ||
					errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Offer: %v", err)
				}
				s.WantBelow(t, "/q/items", tc.items)
				wantTidy(t, s)
			})
		})
	}
}

func TestCancelledOfferIsAmbiguousWhileDisconnected(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "first")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.On("multi", 1, rule{Fault: fault.DropReply, After: c.Disconnect})
		if err := q.Offer(ctx, []byte("a")); !errors.Is(err, ErrAmbiguous) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Offer: %v", err)
		}
		c.Reconnect()
		if err := q.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		wantTidy(t, s)
	})
}

func TestTakeIsCancelledAndKeepsOneWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := q.Take(ctx); !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, ErrAmbiguous) {
				t.Fatalf("Take: %v", err)
			}
			cancel()
		}
		if n := len(s.Watches()); n != 1 {
			t.Errorf("%d watches", n)
		}
		taken := make(chan string)
		go func() {
			data, err := q.Take(t.Context())
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			taken <- string(data)
		}()
		time.Sleep(time.Second)
		c.Expire()
		time.Sleep(time.Second)
		mustOffer(t, NewQueue(s.Connect(), "/q"), "a")
		if got := <-taken; got != "a" {
			t.Errorf("took %q", got)
		}
	})
}

func TestQueueOnClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		failed := make(chan error, 1)
		go func() { _, err := q.Take(t.Context()); failed <- err }()
		time.Sleep(time.Second)
		c.Close()
		if err := <-failed; !errors.Is(err, ErrConnClosed) {
			t.Errorf("waiting Take: %v", err)
		}
		if err := q.Offer(t.Context(), nil); !errors.Is(err, ErrConnClosed) ||
			!errors.Is(err, ErrAmbiguous) {
			t.Errorf("Offer: %v", err)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := q.Offer(t.Context(), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Offer after Close: %v", err)
		}
	})
}

func TestElementChangedMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		c.On("multi", 1, rule{Before: func() {
			s.Seed("/q/items/"+s.Below("/q/items")[0], "b")
		}})
		wantPoll(t, q, "b")
		wantTidy(t, s)
	})
}

// TestListTakenByRivalsIsNotEmpty: rivals take the listed elements, but the queue is never empty.
func TestListTakenByRivalsIsNotEmpty(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
		c, rival := s.Connect(), newQueue(s.Connect())
		q := newQueue(c)
		mustOffer(t, rival, "1")
		swap := rule{After: func() { mustOffer(t, rival, "2"); wantPoll(t, rival, "1") }}
		c.On("children", 1, swap)
		wantPoll(t, q, "2")
		mustOffer(t, rival, "1")
		c.On("children", 1, swap)
		if data, ok, err := q.Peek(t.Context()); string(data) != "2" || !ok || err != nil {
			t.Errorf("Peek: %q %v %v", data, ok, err)
		}
	})
}

// TestOfferKeepsItsData: an abandoned call may send the data again after the caller has reused the
// slice.
func TestOfferKeepsItsData(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "0")
		data := []byte("1")
		c.On("multi", 1, rule{Before: func() { time.Sleep(time.Second) }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := q.Offer(ctx, data); !errors.Is(err, ErrAmbiguous) {
			t.Errorf("Offer: %v", err)
		}
		data[0] = 'x'
		time.Sleep(time.Minute)
		wantPoll(t, q, "0")
		wantPoll(t, q, "1")
		mustClose(t, q)
	})
}
