package recipes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

func newQueues(c Conn) []Queuer {
	return []Queuer{NewQueue(c, "/q"), NewApacheQueue(c, "/q"), evenQueue{NewPriorityQueue(c, "/q")}, presentQueue{NewDelayQueue(c, "/q")}}
}

// evenQueue is a priority queue all of whose elements have the same priority.
type evenQueue struct{ *PriorityQueue }

func (q evenQueue) Offer(ctx context.Context, data []byte) error {
	return q.PriorityQueue.Offer(ctx, data, 7)
}

// presentQueue is a delay queue all of whose elements are due at once.
type presentQueue struct{ *DelayQueue }

func (q presentQueue) Offer(ctx context.Context, data []byte) error {
	return q.DelayQueue.Offer(ctx, data, time.Time{})
}

// everyQueue runs a test for each kind of queue in a bubble.
func everyQueue(t *testing.T, test func(t *testing.T, s *fakeServer, newQueue func(Conn) Queuer)) {
	for i, name := range []string{"Queue", "ApacheQueue", "PriorityQueue", "DelayQueue"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, newFakeServer(), func(c Conn) Queuer { return newQueues(c)[i] })
			})
		})
	}
}

func mustOffer(t *testing.T, q Queuer, data string) {
	t.Helper()
	if err := q.Offer(t.Context(), []byte(data)); err != nil {
		t.Fatalf("Offer %s: %v", data, err)
	}
}

// wantPoll polls; "" stands for an empty queue.
func wantPoll(t *testing.T, q Queuer, want string) {
	t.Helper()
	data, ok, err := q.Poll(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Fatalf("Poll: %q %v %v, want %q", data, ok, err, want)
	}
}

// wantTidy checks that no call has left anything.
func (s *fakeServer) wantTidy(t *testing.T) {
	t.Helper()
	s.wantBelow(t, "/q/claims", 0)
	s.wantBelow(t, "/q/dedup", 0)
}

func TestQueueIsFIFO(t *testing.T) {
	for _, first := range []int32{0, -3} {
		everyQueue(t, func(t *testing.T, s *fakeServer, newQueue func(Conn) Queuer) {
			s.firstSeq = first
			q := newQueue(s.connect())
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
				wantPoll(t, newQueue(s.connect()), fmt.Sprint("e", i))
			}
			wantPoll(t, q, "")
			s.wantTidy(t)
		})
	}
}

func TestTakeWaits(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *fakeServer, newQueue func(Conn) Queuer) {
		taken := make(chan string, 3)
		for range 3 {
			q := newQueue(s.connect())
			go func() {
				data, err := q.Take(t.Context())
				if err != nil {
					t.Errorf("Take: %v", err)
				}
				taken <- string(data)
			}()
		}
		time.Sleep(time.Hour)
		q := newQueue(s.connect())
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
	everyQueue(t, func(t *testing.T, s *fakeServer, newQueue func(Conn) Queuer) {
		producer := newQueue(s.connect())
		for i := range 20 {
			mustOffer(t, producer, fmt.Sprint(i))
		}
		taken := make(chan string, 20)
		for range 4 {
			q := newQueue(s.connect())
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

// removals and offers are the faults a queue must shrug off.
var queueFaults = map[string]rule{
	"reply": loseReply, "request": loseRequest, "net error": netError, "no server": noServer,
	"expired": {err: zk.ErrSessionExpired},
}

func TestQueueFaultsNeitherLoseNorDouble(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					c := s.connect()
					q := NewQueue(c, "/q")
					for _, e := range []string{"a", "b"} {
						c.on(op, 1, fault)
						c.on(op, 2, fault)
						mustOffer(t, q, e)
						c.rules = nil
					}
					s.wantBelow(t, "/q/items", 2)
					for _, e := range []string{"a", "b", ""} {
						c.on(op, 1, fault)
						c.on(op, 2, fault)
						wantPoll(t, q, e)
						c.rules = nil
					}
					s.wantTidy(t)
				})
			})
		}
	}
}

func TestApacheQueueLosesAndDoubles(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewApacheQueue(c, "/q")
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		c.on("delete", 1, loseReply)
		if data, ok, err := q.Poll(t.Context()); data != nil || ok || !errors.Is(err, ErrAmbiguous) || !errors.Is(err, zk.ErrConnectionClosed) {
			t.Fatalf("Poll: %q %v %v", data, ok, err)
		}
		wantPoll(t, q, "b") // a is lost
		c.on("create", 1, loseReply)
		if err := q.Offer(t.Context(), []byte("c")); !errors.Is(err, ErrAmbiguous) {
			t.Fatalf("Offer: %v", err)
		}
		mustOffer(t, q, "c")
		wantPoll(t, q, "c")
		wantPoll(t, q, "c") // doubled
	})
}

func TestApacheElementAndRemove(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		q := NewApacheQueue(s.connect(), "/q")
		for name, method := range map[string]func(context.Context) ([]byte, error){"Element": q.Element, "Remove": q.Remove} {
			if data, err := method(t.Context()); data != nil || !errors.Is(err, ErrNoElement) || errors.Is(err, ErrAmbiguous) {
				t.Errorf("%s of an empty queue: %q %v", name, data, err)
			}
		}
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		for _, step := range []struct {
			method func(context.Context) ([]byte, error)
			want   string
		}{{q.Element, "a"}, {q.Remove, "a"}, {q.Remove, "b"}} {
			if data, err := step.method(t.Context()); string(data) != step.want || err != nil {
				t.Errorf("%q %v, want %q", data, err, step.want)
			}
		}
	})
}

func TestApacheRemoveLoses(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewApacheQueue(c, "/q")
		mustOffer(t, q, "a")
		c.on("delete", 1, loseReply)
		if data, err := q.Remove(t.Context()); data != nil || !errors.Is(err, ErrAmbiguous) {
			t.Errorf("Remove: %q %v", data, err)
		}
		if _, err := q.Element(t.Context()); !errors.Is(err, ErrNoElement) {
			t.Errorf("Element: %v", err)
		}
	})
}

func TestRivalTookItWhileReplyWasLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c, rival := s.connect(), NewQueue(s.connect(), "/q")
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		c.on("multi", 1, rule{lose: true, err: zk.ErrConnectionClosed, after: func() { wantPoll(t, rival, "a") }})
		wantPoll(t, q, "b")
		s.wantTidy(t)
	})
}

func TestCancelledPollPutsBack(t *testing.T) {
	for name, fault := range map[string]rule{"applied": loseReply, "not applied": loseRequest} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c := s.connect()
				q := NewQueue(c, "/q")
				mustOffer(t, q, "a")
				mustOffer(t, q, "b")
				ctx, cancel := context.WithCancel(t.Context())
				fault.after = func() { cancel(); c.disconnect() }
				c.on("multi", 1, fault)
				if _, ok, err := q.Poll(ctx); ok || !errors.Is(err, context.Canceled) || !errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Poll: %v %v", ok, err)
				}
				c.reconnect()
				if err := q.Close(t.Context()); err != nil {
					t.Fatalf("Close: %v", err)
				}
				rest := NewQueue(c, "/q")
				for _, e := range []string{"a", "b", ""} {
					wantPoll(t, rest, e)
				}
				s.wantTidy(t)
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
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c := s.connect()
				q := NewQueue(c, "/q")
				wantPoll(t, q, "")
				mustOffer(t, q, "first")
				wantPoll(t, q, "first")
				ctx, cancel := context.WithCancel(t.Context())
				tc.fault.after = cancel
				c.on("multi", 1, tc.fault)
				if err := q.Offer(ctx, []byte("a")); !errors.Is(err, tc.err) || errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Offer: %v", err)
				}
				s.wantBelow(t, "/q/items", tc.items)
				s.wantTidy(t)
			})
		})
	}
}

func TestCancelledOfferIsAmbiguousWhileDisconnected(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "first")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.on("multi", 1, rule{err: zk.ErrConnectionClosed, after: c.disconnect})
		if err := q.Offer(ctx, []byte("a")); !errors.Is(err, ErrAmbiguous) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Offer: %v", err)
		}
		c.reconnect()
		if err := q.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		s.wantTidy(t)
	})
}

func TestTakeIsCancelledAndKeepsOneWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := q.Take(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrAmbiguous) {
				t.Fatalf("Take: %v", err)
			}
			cancel()
		}
		if n := len(c.watches["child /q/items"]); n != 1 {
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
		c.expire(false)
		time.Sleep(time.Second)
		mustOffer(t, NewQueue(s.connect(), "/q"), "a")
		if got := <-taken; got != "a" {
			t.Errorf("took %q", got)
		}
	})
}

func TestQueueOnClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		failed := make(chan error, 1)
		go func() { _, err := q.Take(t.Context()); failed <- err }()
		time.Sleep(time.Second)
		c.close()
		if err := <-failed; !errors.Is(err, ErrConnClosed) {
			t.Errorf("waiting Take: %v", err)
		}
		if err := q.Offer(t.Context(), nil); !errors.Is(err, ErrConnClosed) || !errors.Is(err, ErrAmbiguous) {
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
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		c.on("multi", 1, rule{before: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			path := "/q/items/" + s.children("/q/items")[0]
			n := s.nodes[path]
			n.stat.Version++
			n.data = []byte("b")
			s.nodes[path] = n
		}})
		wantPoll(t, q, "b")
		s.wantTidy(t)
	})
}

// Rivals take what was listed, but the queue is never empty.
func TestListTakenByRivalsIsNotEmpty(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *fakeServer, newQueue func(Conn) Queuer) {
		c, rival := s.connect(), newQueue(s.connect())
		q := newQueue(c)
		mustOffer(t, rival, "1")
		swap := rule{after: func() { mustOffer(t, rival, "2"); wantPoll(t, rival, "1") }}
		c.on("children", 1, swap)
		wantPoll(t, q, "2")
		mustOffer(t, rival, "1")
		c.on("children", 1, swap)
		if data, ok, err := q.Peek(t.Context()); string(data) != "2" || !ok || err != nil {
			t.Errorf("Peek: %q %v %v", data, ok, err)
		}
	})
}

// TestOfferKeepsItsData: what is left behind may send it again when the caller uses
// the slice for something else.
func TestOfferKeepsItsData(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "0")
		data := []byte("1")
		c.on("multi", 1, rule{before: func() { time.Sleep(time.Second) }})
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
