package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

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

// sameIDQueue is a queue with elements of one id.
type sameIDQueue struct{ *IDQueue }

func (q sameIDQueue) Offer(ctx context.Context, data []byte) error {
	return q.IDQueue.Offer(ctx, "id", data)
}

// everyQueue runs a test for each kind of queue in a bubble.
func everyQueue(t *testing.T, test func(t *testing.T, s *testServer, newQueue func(Conn) queuer)) {
	for name, newQueue := range map[string]func(Conn) queuer{
		"Queue":         func(c Conn) queuer { return NewQueue(c, "/q") },
		"PriorityQueue": func(c Conn) queuer { return evenQueue{NewPriorityQueue(c, "/q")} },
		"DelayQueue":    func(c Conn) queuer { return presentQueue{NewDelayQueue(c, "/q")} },
		"IDQueue":       func(c Conn) queuer { return sameIDQueue{NewIDQueue(c, "/q")} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) { test(t, s, newQueue) })
		})
	}
}

// everyQueueOf is everyQueue with a handle, and another on a connection of its own.
func everyQueueOf(
	t *testing.T, test func(t *testing.T, s *testServer, c *testConn, q, rival queuer),
) {
	everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
		c := s.Connect()
		test(t, s, c, newQueue(c), newQueue(s.Connect()))
	})
}

func mustOffer(t *testing.T, q queuer, elements ...string) {
	t.Helper()
	for _, e := range elements {
		mustDo(t, q.Offer(t.Context(), []byte(e)))
	}
}

// poller is the part of a queue that takers use.
type poller interface {
	Poll(ctx context.Context) (data []byte, ok bool, err error)
}

// wantPoll polls; "" stands for an empty queue.
func wantPoll(t *testing.T, q poller, want string) {
	t.Helper()
	data, ok, err := q.Poll(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Fatalf("Poll: %q %v %v, want %q", data, ok, err, want)
	}
}

// wantInTurn polls all elements of the queue.
func wantInTurn(t *testing.T, q poller, want ...string) {
	t.Helper()
	for _, w := range append(want, "") {
		wantPoll(t, q, w)
	}
}

// wantPeek looks at the first element; "" stands for an empty queue.
func wantPeek(t *testing.T, q interface {
	Peek(ctx context.Context) (data []byte, ok bool, err error)
}, want string) {
	t.Helper()
	data, ok, err := q.Peek(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Errorf("Peek: %q %v %v, want %q", data, ok, err, want)
	}
}

// taking takes n elements in the background.
func taking(t *testing.T, q interface {
	Take(ctx context.Context) ([]byte, error)
}, n int) chan string {
	taken := make(chan string, n)
	go func() {
		for range n {
			data, err := q.Take(t.Context())
			mustDo(t, err)
			taken <- string(data)
		}
	}()
	time.Sleep(time.Second)
	return taken
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
			wantPeek(t, q, "")
			mustOffer(t, q, "e0", "e1", "e2", "e3", "e4", "e5")
			wantPeek(t, q, "e0")
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
		var takers []chan string
		for range 3 {
			takers = append(takers, taking(t, newQueue(s.Connect()), 1))
		}
		time.Sleep(time.Hour)
		q := newQueue(s.Connect())
		taken := map[string]bool{}
		for i := range 3 {
			mustOffer(t, q, fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		for _, taker := range takers {
			taken[<-taker] = true
		}
		check.Equal(t, len(taken), 3, "taken %v", taken)
		wantPoll(t, q, "")
	})
}

func TestRivalTookItWhileReplyWasLost(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		mustOffer(t, q, "a", "b")
		lost := loseRequest
		lost.After = func() { wantPoll(t, rival, "a") }
		c.On("multi", 1, lost)
		wantPoll(t, q, "b")
		wantTidy(t, s)
	})
}

func TestCancelledPollPutsBack(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest} {
		everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
			mustOffer(t, q, "a", "b")
			ctx, leaving := abandoning(t, c, fault)
			c.On("multi", 1, leaving)
			_, ok, err := q.Poll(ctx)
			if wantFailure(t, err, context.Canceled, Unknown); ok {
				t.Error("polled")
			}
			c.Reconnect()
			mustClose(t, q)
			wantInTurn(t, rival, "a", "b")
			wantTidy(t, s)
		})
	}
}

func TestCancelledOfferIsAmbiguousWhileDisconnected(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		mustOffer(t, q, "first")
		lost := loseReply
		lost.After = c.Disconnect
		c.On("multi", 1, lost)
		wantFailure(t, q.Offer(within(t, time.Second), nil), context.DeadlineExceeded, Unknown)
		c.Reconnect()
		mustClose(t, q)
		wantTidy(t, s)
		check.Is(t, q.Offer(t.Context(), nil), ErrClosed)
	})
}

func TestTakeIsCancelledAndKeepsOneWatch(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		for range 5 {
			_, err := q.Take(within(t, time.Second))
			wantFailure(t, err, context.DeadlineExceeded, NotApplied)
		}
		check.Equal(t, len(s.Watches()), 1, "watches")
		taken := taking(t, q, 1)
		c.Expire()
		time.Sleep(time.Second)
		mustOffer(t, rival, "a")
		check.Equal(t, <-taken, "a")
	})
}

func TestElementChangedMeanwhile(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		mustOffer(t, q, "a")
		c.On("multi", 1, rule{Before: func() { s.Seed("/q/items/"+s.Below("/q/items")[0], "b") }})
		wantPoll(t, q, "b")
		wantTidy(t, s)
	})
}

// TestListTakenByRivalsIsNotEmpty: rivals take the listed elements, but the queue is never empty.
func TestListTakenByRivalsIsNotEmpty(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		mustOffer(t, rival, "1")
		swap := rule{After: func() { mustOffer(t, rival, "2"); wantPoll(t, rival, "1") }}
		c.On("children", 1, swap)
		wantPoll(t, q, "2")
		mustOffer(t, rival, "1")
		c.On("children", 1, swap)
		wantPeek(t, q, "2")
	})
}

// TestOfferKeepsItsData: an abandoned call may send the data again after the caller has reused the
// slice.
func TestOfferKeepsItsData(t *testing.T) {
	everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
		mustOffer(t, q, "0")
		data := []byte("1")
		c.On("multi", 1, rule{Before: func() { time.Sleep(time.Second) }})
		check.Is(t, q.Offer(within(t, time.Millisecond), data), ErrAmbiguous)
		data[0] = 'x'
		time.Sleep(time.Minute)
		wantInTurn(t, q, "0", "1")
		mustClose(t, q)
	})
}

func TestQueueCloseReportsRecordLeftByClosedConn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		c.On("delete", 1, rule{Before: c.Close})
		mustOffer(t, q, "b")
		check.Is(t, q.Close(t.Context()), ErrConnClosed)
		s.WantBelow(t, "/q/dedup", 1)
	})
}

func mustOfferID(t *testing.T, q *IDQueue, id, data string) {
	t.Helper()
	mustDo(t, q.Offer(t.Context(), id, []byte(data)))
}

func wantRemoved(t *testing.T, q *IDQueue, id string, want int) {
	t.Helper()
	if n, err := q.Remove(t.Context(), id); n != want || err != nil {
		t.Fatalf("Remove %q: %d %v, want %d", id, n, err, want)
	}
}

func TestIDQueueRemovesByID(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := NewIDQueue(c, "/q")
		wantRemoved(t, q, "x", 0)
		for _, id := range []string{"x", "", "a/b", "x-item-0000000001", "-id-", "x", "%2F", "ä"} {
			mustOfferID(t, q, id, "of "+id)
		}
		for _, removed := range []struct {
			id string
			n  int
		}{{"x", 2}, {"x", 0}, {"/", 0}, {"-id-", 1}, {"a/b", 1}} {
			wantRemoved(t, q, removed.id, removed.n)
		}
		wantInTurn(t, q, "of ", "of x-item-0000000001", "of %2F", "of ä")
		wantTidy(t, s)
	})
}

func TestRemoveCountsWhatRivalsLeave(t *testing.T) {
	for _, fault := range []rule{{}, loseRequest, loseReply} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q, rival := NewIDQueue(c, "/q"), NewIDQueue(s.Connect(), "/q")
			mustOfferID(t, q, "x", "1")
			mustOfferID(t, q, "x", "2")
			fault.Before = func() { wantPoll(t, rival, "1") }
			c.On("multi", 1, fault)
			wantRemoved(t, q, "x", 1)
			wantInTurn(t, q)
			wantTidy(t, s)
		})
	}
}

func TestRefusalIsReturnedAndNotRepeated(t *testing.T) {
	everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
		c := s.Connect()
		c.On("multi", 1, refusal)
		wantFailure(t, newQueue(c).Offer(t.Context(), nil), zk.ErrNoAuth, NotApplied)
		check.Equal(t, c.Called("multi"), 1, "requests")
	})
}

// TestEphemeralElementsGoWithTheirSession, unless they are taken before; others stay.
func TestEphemeralElementsGoWithTheirSession(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q, other := NewQueue(c, "/q", EphemeralElements()), NewQueue(s.Connect(), "/q")
			mustOffer(t, other, "stays")
			c.On("multi", 1, fault)
			mustOffer(t, q, "goes", "goes, too")
			wantPoll(t, other, "stays")
			wantPoll(t, other, "goes")
			mustOffer(t, other, "stays, too")
			c.Expire()
			wantInTurn(t, other, "stays, too")
			urgent := NewPriorityQueue(c, "/p", EphemeralElements())
			mustPrioritize(t, urgent, "goes", 1)
			c.Expire()
			wantInTurn(t, urgent)
			wantTidy(t, s)
		})
	}
}

// TestCancelledPollOfAnEphemeralElement leaves no element that outlives its producer. The error
// says that the element may be lost.
func TestCancelledPollOfAnEphemeralElement(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, producer *testConn) {
			c, rival := s.Connect(), NewQueue(s.Connect(), "/q")
			mustOffer(t, NewQueue(producer, "/q", EphemeralElements()), "a", "b")
			q := NewQueue(c, "/q")
			ctx, leaving := abandoning(t, c, fault)
			c.On("multi", 1, leaving)
			wantFailure(t, errOf(errOf2(q.Poll(ctx))), context.Canceled, Unknown)
			c.Reconnect()
			mustClose(t, q)
			if fault.Fault == loseRequest.Fault {
				wantPoll(t, rival, "a")
			}
			wantPeek(t, rival, "b")
			producer.Expire()
			wantInTurn(t, rival)
			wantTidy(t, s)
		})
	}
}

// TestLateCancelOfATakenEphemeralElement is a cancellation after the removal, and before the caller
// has the element.
func TestLateCancelOfATakenEphemeralElement(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := NewQueue(c, "/q", EphemeralElements())
		mustOffer(t, q, "a")
		ctx, cancel := context.WithCancel(t.Context())
		c.On("multi", 1, rule{After: func() { cancel(); time.Sleep(time.Millisecond) }})
		wantFailure(t, errOf(errOf2(q.Poll(ctx))), context.Canceled, Unknown)
		wantInTurn(t, q)
		wantTidy(t, s)
	})
}

// TestCancelledCallsTellTheTruthWhenTheyCan: an offer has appended its element or not, and a
// removal by id has removed its own or not.
func TestCancelledCallsTellTheTruthWhenTheyCan(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest} {
		applied := fault.Fault == loseReply.Fault
		cancelled := func(t *testing.T, c *testConn, call func(ctx context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			fault.After = cancel
			c.On("multi", 1, fault)
			err := call(ctx)
			if (err == nil) != applied || !applied && !errors.Is(err, context.Canceled) ||
				errors.Is(err, ErrAmbiguous) {
				t.Errorf("applied %v: %v", applied, err)
			}
		}
		everyQueueOf(t, func(t *testing.T, s *testServer, c *testConn, q, rival queuer) {
			mustOffer(t, q, "first")
			cancelled(t, c, func(ctx context.Context) error { return q.Offer(ctx, []byte("a")) })
			wantInTurn(t, rival, []string{"first", "a"}[:1+count(applied)]...)
			wantTidy(t, s)
		})
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			q := NewIDQueue(c, "/q")
			mustOfferID(t, q, "x", "1")
			cancelled(t, c, func(ctx context.Context) error {
				n, err := q.Remove(ctx, "x")
				check.Equal(t, n, count(applied), "removed")
				return err
			})
			s.WantBelow(t, "/q/items", 1-count(applied))
			wantTidy(t, s)
		})
	}
}

// count is 1 for true.
func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
