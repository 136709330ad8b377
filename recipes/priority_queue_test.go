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

// wantInTurn polls all elements of the queue.
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
	inBubble(t, func(t *testing.T, s *testServer) {
		s.NumberFrom(-2)
		q := NewPriorityQueue(s.Connect(), "/q")
		mustPrioritize(t, q, "last", math.MaxInt32)
		mustPrioritize(t, q, "five", 5)
		mustPrioritize(t, q, "five too", 5)
		mustPrioritize(t, q, "minus three", -3)
		mustPrioritize(t, q, "minus ten", -10)
		mustPrioritize(t, q, "first", math.MinInt32)
		mustPrioritize(t, q, "ten", 10)
		s.Seed("/q/items/n-item-0000000001", "foreign")
		if data, ok, err := q.Peek(t.Context()); string(data) != "first" || !ok || err != nil {
			t.Errorf("Peek: %q %v %v", data, ok, err)
		}
		wantInTurn(t, q, "first", "minus ten", "minus three", "five", "five too", "ten", "last")
		wantTidy(t, s)
	})
}

// TestRemovalChecksTheList: a more urgent element comes between the list and the removal.
func TestRemovalChecksTheList(t *testing.T) {
	for name, fault := range map[string]rule{
		"undisturbed": {}, "reply lost": loseReply, "request lost": loseRequest,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c, rival := s.Connect(), NewPriorityQueue(s.Connect(), "/q")
				q := NewPriorityQueue(c, "/q")
				mustPrioritize(t, rival, "calm", 1)
				fault.Before = func() { mustPrioritize(t, rival, "urgent", 0) }
				c.On("multi", 1, fault)
				wantInTurn(t, q, "urgent", "calm")
				wantTidy(t, s)
			})
		})
	}
}

func TestRankedQueueFaults(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					c := s.Connect()
					q := NewPriorityQueue(c, "/q")
					twice := func() {
						c.Off()
						c.On(op, 1, fault)
						c.On(op, 2, fault)
					}
					for i, e := range []string{"b", "a"} {
						twice()
						mustPrioritize(t, q, e, int32(-i))
					}
					c.Off()
					s.WantBelow(t, "/q/items", 2)
					for _, e := range []string{"a", "b", ""} {
						twice()
						wantPoll(t, evenQueue{q}, e)
					}
					wantTidy(t, s)
				})
			})
		}
	}
}

func TestAbandonedPollGivesThePlaceBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewPriorityQueue(c, "/q")
		mustPrioritize(t, q, "b", 1)
		mustPrioritize(t, q, "a", 0)
		ctx, cancel := context.WithCancel(t.Context())
		fault := loseReply
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
		wantInTurn(t, NewPriorityQueue(c, "/q"), "a", "b")
		wantTidy(t, s)
	})
}

func TestDelayQueueWaitsUntilDue(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
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
		before := len(c.Calls())
		for _, want := range []struct {
			data string
			at   time.Duration
		}{
			{"second", time.Second + time.Millisecond}, {"minute", time.Minute}, {
				"minute too", time.Minute,
			}, {"hour", time.Hour},
		} {
			data, err := q.Take(t.Context())
			late := time.Since(start.Add(want.at))
			if err != nil || string(data) != want.data || late < 0 || late > 50*time.Millisecond {
				t.Errorf("Take: %q %v, %v late; want %q", data, err, late, want.data)
			}
		}
		if n := len(c.Calls()) - before; n > 200 {
			t.Errorf("%d requests", n)
		}
		wantInTurn(t, q)
		wantTidy(t, s)
	})
}

func TestDelayQueueWakesForWhatIsDueSooner(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		q, producer := NewDelayQueue(s.Connect(), "/q", RecheckEvery(0)),
			NewDelayQueue(s.Connect(), "/q")
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
		if got, at := <-taken, time.Since(start); got != "soon" || at < 2*time.Minute ||
			at > 2*time.Minute+time.Second {
			t.Errorf("took %q after %v", got, at)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Take(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, ErrAmbiguous) {
			t.Errorf("Take: %v", err)
		}
	})
}

// TestMostUrgentAtVersionMinusOne of the directory, which a check takes for any.
func TestMostUrgentAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		inBubble(t, func(t *testing.T, s *testServer) {
			c, other := s.Connect(), NewPriorityQueue(s.Connect(), "/q")
			offer := func(data string, priority int32) {
				if err := other.Offer(t.Context(), []byte(data), priority); err != nil {
					t.Error(err)
				}
			}
			offer("later", 2)
			s.SetVersion("/q/items", -1)
			q := NewPriorityQueue(c, "/q")
			c.On("set", 1, fault)
			c.On("multi", 1, rule{Before: func() { offer("first", 1) }})
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
