package recipes

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// pauses returns the pauses of a policy before it gives up, ten at most.
func pauses(policy RetryPolicy) []time.Duration {
	var out []time.Duration
	var elapsed time.Duration
	for tries := 1; tries <= 10; tries++ {
		pause, again := policy.Next(tries, elapsed, zk.ErrConnectionClosed)
		if !again {
			break
		}
		out = append(out, pause)
		elapsed += pause
	}
	return out
}

func milliseconds(n ...int) []time.Duration {
	var out []time.Duration
	for _, ms := range n {
		out = append(out, time.Duration(ms)*time.Millisecond)
	}
	return out
}

func TestPausesOfPolicies(t *testing.T) {
	steady := RetryFixed(100*time.Millisecond, 0)
	for name, tc := range map[string]struct {
		policy RetryPolicy
		want   []time.Duration
	}{
		"forever": {
			RetryForever(), milliseconds(0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000),
		},
		"fixed":            {RetryFixed(50*time.Millisecond, 3), milliseconds(50, 50)},
		"fixed, once":      {RetryFixed(50*time.Millisecond, 1), nil},
		"fixed, unbounded": {RetryFixed(0, 0), milliseconds(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
		"until":            {RetryUntil(steady, 350*time.Millisecond), milliseconds(100, 100, 100)},
		"if": {
			RetryIf(steady, func(err error) bool {
				return !errors.Is(err, zk.ErrConnectionClosed)
			}), nil,
		},
		"without end": {
			withoutEnd(RetryFixed(time.Millisecond, 2)), milliseconds(
				1, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000,
			),
		},
	} {
		if got := pauses(tc.policy); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// swapReader makes crypto/rand return zeros, or ones, for a test.
func swapReader(t *testing.T, b byte) {
	was := rand.Reader
	rand.Reader = bytes.NewReader(bytes.Repeat([]byte{b}, 1<<12))
	t.Cleanup(func() { rand.Reader = was })
}

func TestExponentialPausesAreJitteredByHalfAtMost(t *testing.T) {
	policy := RetryExponential(100*time.Millisecond, time.Second)
	swapReader(t, 0)
	longest := pauses(policy)
	if want := milliseconds(
		100, 200, 400, 800, 1000, 1000, 1000, 1000, 1000, 1000,
	); !slices.Equal(longest, want) {
		t.Errorf("longest pauses %v, want %v", longest, want)
	}
	swapReader(t, 0x5a)
	jittered := pauses(policy)
	for i, pause := range jittered {
		if pause > longest[i] || pause <= longest[i]/2-1 {
			t.Errorf("pause %d is %v of %v", i, pause, longest[i])
		}
	}
	if slices.Equal(jittered, longest) {
		t.Error("no jitter")
	}
	rand.Reader = strings.NewReader("")
	if got := pauses(policy); !slices.Equal(got, longest) {
		t.Errorf("without random numbers %v", got)
	}
}

// down makes the next hundred requests of a kind fail.
func down(c *testConn, op string) {
	for range 100 {
		c.On(op, 1, loseRequest)
	}
}

func TestBoundedPolicyEndsTheOperation(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		down(c, "create")
		l := NewLock(c, "/l", Retry(RetryFixed(10*time.Millisecond, 3)))
		err := l.Lock(t.Context())
		if !errors.Is(err, ErrGaveUp) || !errors.Is(err, zk.ErrConnectionClosed) ||
			!strings.Contains(err.Error(), "sent 3 times") {
			t.Errorf("Lock: %v", err)
		}
		if c.Called("create") != 3 || OutcomeOf(err) != NotApplied {
			t.Errorf("%d requests, %v", c.Called("create"), OutcomeOf(err))
		}
		c.Off()
		unbounded := NewLock(c, "/l")
		for range 5 {
			c.On("create", 1, loseRequest)
		}
		mustLock(t, unbounded) // the control: the default goes on
		mustUnlock(t, unbounded)
	})
}

func TestBoundedPolicyLeavesAnUnknownOutcomeAmbiguous(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		mustOffer(t, NewQueue(c, "/q"), "a")
		q := NewQueue(c, "/q", Retry(RetryFixed(time.Millisecond, 2)))
		c.On("multi", 1, loseReply)
		c.On("multi", 1, loseRequest)
		down(c, "delete") // clean-up, which settles the outcome, goes on
		err := q.Offer(t.Context(), []byte("b"))
		if !errors.Is(err, ErrGaveUp) || !errors.Is(err, ErrAmbiguous) ||
			OutcomeOf(err) != Unknown {
			t.Errorf("Offer: %v", err)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		s.WantBelow(t, "/q/dedup", 0)
		s.WantBelow(t, "/q/items", 2)
	})
}

func TestCleanUpIgnoresTheBound(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		l := NewLock(c, "/l", Retry(RetryFixed(0, 1)))
		for range 4 { // two parents at most, own node
			if err := l.Lock(t.Context()); err == nil {
				break
			}
		}
		for range 20 {
			c.On("delete", 1, loseRequest)
		}
		mustUnlock(t, l)
		s.WantBelow(t, "/l", 0)
	})
}

func TestBackoffEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var b backoff
		if err := b.wait(ctx, RetryFixed(time.Hour, 0), zk.ErrNoServer); !errors.Is(
			err, context.DeadlineExceeded,
		) {
			t.Errorf("wait: %v", err)
		}
	})
}

// TestRowsComeBackApart: rows of requests that fail at one instant are repeated at different
// instants, unless they have the same kinds and began together.
func TestRowsComeBackApart(t *testing.T) {
	rows := []struct {
		kind    string
		begun   time.Duration
		cleanUp bool
	}{
		{"lock", 0, false}, {"lock", 0, true}, {"queue", 0, false},
		{"lock", time.Nanosecond, false}, {
			"lock", time.Second, true,
		},
	}
	synctest.Test(t, func(t *testing.T) {
		back := make(chan time.Duration, len(rows))
		began := time.Now()
		for _, row := range rows {
			go func() {
				time.Sleep(row.begun)
				r := newLifecycle(
					nil, row.kind, "/a", []Option{Retry(RetryFixed(10*time.Millisecond, 0))},
				).requests()
				time.Sleep(2*time.Second - row.begun) // all fail now
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if row.cleanUp {
					ctx = context.Background()
				}
				if err := r.again(ctx, zk.ErrConnectionClosed); err != nil {
					t.Error(err)
				}
				back <- time.Since(began)
			}()
		}
		var times []time.Duration
		for range rows {
			times = append(times, <-back)
		}
		slices.Sort(times)
		if distinct := slices.Compact(slices.Clone(times)); len(distinct) != len(rows) {
			t.Errorf("rows come back at %v; want all apart", times)
		}
	})
}
