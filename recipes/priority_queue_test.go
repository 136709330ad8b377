package recipes

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

func mustPrioritize(t *testing.T, q *PriorityQueue, data string, priority int32) {
	t.Helper()
	if err := q.Offer(t.Context(), []byte(data), priority); err != nil {
		t.Fatalf("Offer %s: %v", data, err)
	}
}

// wantInTurn polls all that the queue has.
func wantInTurn(t *testing.T, q interface {
	Poll(context.Context) ([]byte, bool, error)
}, want ...string) {
	t.Helper()
	for _, w := range append(want, "") {
		data, ok, err := q.Poll(t.Context())
		if err != nil || ok != (w != "") || string(data) != w {
			t.Fatalf("Poll: %q %v %v, want %q", data, ok, err, w)
		}
	}
}

func TestPriorityQueueGoesByPriority(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		s.firstSeq = -2
		q := NewPriorityQueue(s.connect(), "/q")
		mustPrioritize(t, q, "last", math.MaxInt32)
		mustPrioritize(t, q, "five", 5)
		mustPrioritize(t, q, "five too", 5)
		mustPrioritize(t, q, "minus three", -3)
		mustPrioritize(t, q, "minus ten", -10)
		mustPrioritize(t, q, "first", math.MinInt32)
		mustPrioritize(t, q, "ten", 10)
		s.seed(t, 1, "/q/items/n-item-0000000001", "foreign")
		if data, ok, err := q.Peek(t.Context()); string(data) != "first" || !ok || err != nil {
			t.Errorf("Peek: %q %v %v", data, ok, err)
		}
		wantInTurn(t, q, "first", "minus ten", "minus three", "five", "five too", "ten", "last")
		s.wantTidy(t)
	})
}

// A more urgent element comes between the list and the removal.
func TestRemovalChecksTheList(t *testing.T) {
	for name, fault := range map[string]rule{"undisturbed": {}, "reply lost": loseReply, "request lost": loseRequest} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c, rival := s.connect(), NewPriorityQueue(s.connect(), "/q")
				q := NewPriorityQueue(c, "/q")
				mustPrioritize(t, rival, "calm", 1)
				fault.before = func() { mustPrioritize(t, rival, "urgent", 0) }
				c.on("multi", 1, fault)
				wantInTurn(t, q, "urgent", "calm")
				s.wantTidy(t)
			})
		})
	}
}

func TestRankedQueueFaults(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					c := s.connect()
					q := NewPriorityQueue(c, "/q")
					twice := func() {
						c.rules = nil
						c.on(op, 1, fault)
						c.on(op, 2, fault)
					}
					for i, e := range []string{"b", "a"} {
						twice()
						mustPrioritize(t, q, e, int32(-i))
					}
					c.rules = nil
					s.wantBelow(t, "/q/items", 2)
					for _, e := range []string{"a", "b", ""} {
						twice()
						wantPoll(t, evenQueue{q}, e)
					}
					s.wantTidy(t)
				})
			})
		}
	}
}

func TestAbandonedPollGivesThePlaceBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewPriorityQueue(c, "/q")
		mustPrioritize(t, q, "b", 1)
		mustPrioritize(t, q, "a", 0)
		ctx, cancel := context.WithCancel(t.Context())
		fault := loseReply
		fault.after = func() { cancel(); c.disconnect() }
		c.on("multi", 1, fault)
		if _, ok, err := q.Poll(ctx); ok || !errors.Is(err, context.Canceled) || !errors.Is(err, ErrAmbiguous) {
			t.Fatalf("Poll: %v %v", ok, err)
		}
		c.reconnect()
		if err := q.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		wantInTurn(t, NewPriorityQueue(c, "/q"), "a", "b")
		s.wantTidy(t)
	})
}

func TestDelayQueueWaitsUntilDue(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewDelayQueue(c, "/q")
		start := time.Now().Truncate(time.Millisecond)
		offer := func(e string, after time.Duration) {
			if err := q.Offer(t.Context(), []byte(e), start.Add(after)); err != nil {
				t.Fatalf("Offer: %v", err)
			}
		}
		offer("hour", time.Hour)
		offer("minute", time.Minute)
		offer("minute too", time.Minute)
		offer("second", time.Second+time.Microsecond) // rounded up
		wantInTurn(t, q)
		if _, ok, err := q.Peek(t.Context()); ok || err != nil {
			t.Errorf("Peek: %v %v", ok, err)
		}
		before := len(c.calls)
		for _, want := range []struct {
			data string
			at   time.Duration
		}{{"second", time.Second + time.Millisecond}, {"minute", time.Minute}, {"minute too", time.Minute}, {"hour", time.Hour}} {
			data, err := q.Take(t.Context())
			late := time.Since(start.Add(want.at))
			if err != nil || string(data) != want.data || late < 0 || late > 50*time.Millisecond {
				t.Errorf("Take: %q %v, %v late; want %q", data, err, late, want.data)
			}
		}
		if n := len(c.calls) - before; n > 200 {
			t.Errorf("%d requests", n)
		}
		wantInTurn(t, q)
		s.wantTidy(t)
	})
}

func TestDelayQueueWakesForWhatIsDueSooner(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		q, producer := NewDelayQueue(s.connect(), "/q", RecheckEvery(0)), NewDelayQueue(s.connect(), "/q")
		start := time.Now()
		offer := func(e string, after time.Duration) {
			if err := producer.Offer(t.Context(), []byte(e), start.Add(after)); err != nil {
				t.Errorf("Offer: %v", err)
			}
		}
		offer("late", time.Hour)
		taken := make(chan string)
		go func() {
			data, err := q.Take(t.Context())
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			taken <- string(data)
		}()
		time.Sleep(time.Minute)
		offer("soon", 2*time.Minute)
		if got, at := <-taken, time.Since(start); got != "soon" || at < 2*time.Minute || at > 2*time.Minute+time.Second {
			t.Errorf("took %q after %v", got, at)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Take(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("Take: %v", err)
		}
	})
}

// TestMostUrgentAtVersionMinusOne of the directory, which a check takes for any.
func TestMostUrgentAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		inBubble(t, func(t *testing.T, s *fakeServer) {
			c, other := s.connect(), NewPriorityQueue(s.connect(), "/q")
			offer := func(data string, priority int32) {
				if err := other.Offer(t.Context(), []byte(data), priority); err != nil {
					t.Error(err)
				}
			}
			offer("later", 2)
			s.setVersion("/q/items", -1)
			q := NewPriorityQueue(c, "/q")
			c.on("set", 1, fault)
			c.on("multi", 1, rule{before: func() { offer("first", 1) }})
			for _, want := range []string{"first", "later"} {
				if data, ok, err := q.Poll(t.Context()); string(data) != want || !ok || err != nil {
					t.Errorf("Poll: %q %v %v, want %q", data, ok, err, want)
				}
			}
			mustClose(t, q)
			mustClose(t, other)
		})
	}
}
