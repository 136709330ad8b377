package recipes_test

import (
	"context"
	. "github.com/zksim/zksim/recipes"
	"math"
	"testing"
	"time"
)

func mustPrioritize(t *testing.T, q *PriorityQueue, data string, priority int32) {
	t.Helper()
	mustDo(t, q.Offer(t.Context(), []byte(data), priority))
}

func TestPriorityQueueGoesByPriority(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.NumberFrom(-2)
		q := NewPriorityQueue(c, "/q")
		for _, e := range []struct {
			data     string
			priority int32
		}{
			{"last", math.MaxInt32}, {"five", 5}, {"five too", 5}, {"minus three", -3},
			{"minus ten", -10}, {"first", math.MinInt32}, {"ten", 10},
		} {
			mustPrioritize(t, q, e.data, e.priority)
		}
		s.Seed("/q/items/n-item-0000000001", "foreign")
		wantPeek(t, q, "first")
		wantInTurn(t, q, "first", "minus ten", "minus three", "five", "five too", "ten", "last")
		wantTidy(t, s)
	})
}

// TestRemovalChecksTheList: a more urgent element comes between the list and the removal.
func TestRemovalChecksTheList(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q, rival := NewPriorityQueue(c, "/q"), NewPriorityQueue(s.Connect(), "/q")
			mustPrioritize(t, rival, "calm", 1)
			fault.Before = func() { mustPrioritize(t, rival, "urgent", 0) }
			c.On("multi", 1, fault)
			wantInTurn(t, q, "urgent", "calm")
			wantTidy(t, s)
		})
	}
}

// TestMostUrgentAtVersionMinusOne of the directory, which a check takes for any.
func TestMostUrgentAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q, rival := NewPriorityQueue(c, "/q"), NewPriorityQueue(s.Connect(), "/q")
			mustPrioritize(t, rival, "later", 2)
			s.SetVersion("/q/items", -1)
			c.On("set", 1, fault)
			c.On("multi", 1, rule{Before: func() { mustPrioritize(t, rival, "first", 1) }})
			wantInTurn(t, q, "first", "later")
		})
	}
}

func TestDelayQueueWaitsUntilDue(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := NewDelayQueue(c, "/q")
		start := time.Now().Truncate(time.Millisecond)
		elements := []struct {
			data  string
			after time.Duration
			late  time.Duration // rounded up
		}{
			{"second", time.Second + time.Microsecond, time.Millisecond - time.Microsecond},
			{"minute", time.Minute, 0}, {"minute too", time.Minute, 0}, {"hour", time.Hour, 0},
		}
		for _, i := range []int{3, 1, 2, 0} {
			e := elements[i]
			mustDo(t, q.Offer(t.Context(), []byte(e.data), start.Add(e.after)))
		}
		wantInTurn(t, q)
		wantPeek(t, q, "")
		before := len(c.Calls())
		for _, e := range elements {
			data, err := q.Take(t.Context())
			late := time.Since(start.Add(e.after))
			if err != nil || string(data) != e.data || late < e.late || late > 50*time.Millisecond {
				t.Errorf("Take: %q %v, %v late; want %q", data, err, late, e.data)
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
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q, producer := NewDelayQueue(c, "/q", RecheckEvery(0)), NewDelayQueue(s.Connect(), "/q")
		start := time.Now()
		mustDo(t, producer.Offer(t.Context(), []byte("late"), start.Add(time.Hour)))
		taken := taking(t, q, 1)
		time.Sleep(time.Minute)
		mustDo(t, producer.Offer(t.Context(), []byte("soon"), start.Add(2*time.Minute)))
		if got, at := <-taken, time.Since(start); got != "soon" || at < 2*time.Minute ||
			at > 2*time.Minute+time.Second {
			t.Errorf("took %q after %v", got, at)
		}
		_, err := q.Take(within(t, time.Second))
		wantFailure(t, err, context.DeadlineExceeded, NotApplied)
	})
}
