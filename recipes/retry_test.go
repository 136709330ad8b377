package recipes_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
)

// pauses returns the pauses of a policy before it gives up, ten at most, in milliseconds.
func pauses(policy RetryPolicy) string {
	var list []int64
	var elapsed time.Duration
	for tries := 1; tries <= 10; tries++ {
		pause, again := policy.Next(tries, elapsed, zk.ErrConnectionClosed)
		if !again {
			break
		}
		list = append(list, pause.Milliseconds())
		elapsed += pause
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}

func TestPausesOfPolicies(t *testing.T) {
	steady := RetryFixed(100*time.Millisecond, 0)
	closedConn := func(err error) bool { return errors.Is(err, zk.ErrConnectionClosed) }
	for name, tc := range map[string]struct {
		policy RetryPolicy
		want   string
	}{
		"forever":          {RetryForever(), "0 10 20 40 80 160 320 640 1000 1000"},
		"fixed":            {RetryFixed(50*time.Millisecond, 3), "50 50"},
		"fixed, once":      {RetryFixed(50*time.Millisecond, 1), ""},
		"fixed, unbounded": {RetryFixed(0, 0), "0 0 0 0 0 0 0 0 0 0"},
		"linear":           {RetryLinear(500*time.Millisecond, 5), "500 1000 1500 2000"},
		"linear, for ever": {RetryLinear(0, 0), "0 0 0 0 0 0 0 0 0 0"},
		"tries":            {RetryTries(RetryForever(), 4), "0 10 20"},
		"tries of fewer":   {RetryTries(RetryFixed(time.Second, 2), 4), "1000"},
		"until":            {RetryUntil(steady, 350*time.Millisecond), "100 100 100"},
		"if":               {RetryIf(steady, func(err error) bool { return !closedConn(err) }), ""},
		"without end": {
			request.WithoutEnd(RetryFixed(time.Millisecond, 2)),
			"1 1000 1000 1000 1000 1000 1000 1000 1000 1000",
		},
	} {
		check.Equal(t, pauses(tc.policy), tc.want, "%s", name)
	}
}

// swapReader makes crypto/rand return one byte for a test.
func swapReader(t *testing.T, b byte) {
	was := rand.Reader
	rand.Reader = bytes.NewReader(bytes.Repeat([]byte{b}, 1<<12))
	t.Cleanup(func() { rand.Reader = was })
}

func TestExponentialPausesAreJitteredByHalfAtMost(t *testing.T) {
	const first, longest = 100 * time.Millisecond, time.Second
	const want = "100 200 400 800 1000 1000 1000 1000 1000 1000"
	policy := RetryExponential(first, longest)
	swapReader(t, 0)
	check.Equal(t, pauses(policy), want)
	swapReader(t, 0x5a)
	jittered := false
	for tries := 1; tries <= 10; tries++ {
		pause, _ := policy.Next(tries, 0, nil)
		full := min(first<<(tries-1), longest)
		if jittered = jittered || pause < full; pause > full || pause < full/2 {
			t.Errorf("pause %d is %v of %v", tries, pause, full)
		}
	}
	if !jittered {
		t.Error("no jitter")
	}
	rand.Reader = strings.NewReader("") // no random numbers
	check.Equal(t, pauses(policy), want)
}

// down makes the next hundred requests of a kind fail.
func down(c *testConn, op string) {
	for range 100 {
		c.On(op, 1, loseRequest)
	}
}

func TestBoundedPolicyLeavesAnUnknownOutcomeAmbiguous(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		mustOffer(t, NewQueue(c, "/q"), "a")
		q := NewQueue(c, "/q", Retry(RetryFixed(time.Millisecond, 2)))
		c.On("multi", 1, loseReply)
		c.On("multi", 1, loseRequest)
		down(c, "delete") // clean-up, which settles the outcome, goes on
		wantFailure(t, q.Offer(t.Context(), []byte("b")), ErrGaveUp, Unknown)
		mustClose(t, q)
		s.WantBelow(t, "/q/dedup", 0)
		s.WantBelow(t, "/q/items", 2)
	})
}

func TestCleanUpIgnoresTheBound(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
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

// TestBoundedPolicyEndsTheOperation after three requests. The control: the default goes on.
func TestBoundedPolicyEndsTheOperation(t *testing.T) {
	for name, tc := range map[string]struct {
		op   string
		want Outcome
		call func(ctx context.Context, c Conn, opts ...Option) error
	}{
		"lock": {"create", NotApplied, func(ctx context.Context, c Conn, opts ...Option) error {
			return NewLock(c, "/l", opts...).Lock(ctx)
		}},
		"number of leases": {"set", NotApplied, func(
			ctx context.Context, c Conn, opts ...Option,
		) error {
			return errOf(NewSemaphore(c, "/sem", 1, opts...).Acquire(ctx))
		}},
		"vote": {"create", Unknown, func(ctx context.Context, c Conn, opts ...Option) error {
			return NewTwoPhaseCommit(c, "/t", opts...).Vote(ctx, "a", true)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				s.Seed("/sem", "")
				s.Seed("/t", `{"sites":["a"]}`)
				down(c, tc.op)
				err := tc.call(t.Context(), c, Retry(RetryFixed(10*time.Millisecond, 3)))
				wantFailure(t, err, ErrGaveUp, tc.want)
				check.Is(t, err, zk.ErrConnectionClosed)
				check.Contains(t, err.Error(), "sent 3 times")
				check.Equal(t, c.Called(tc.op), 3, "requests")
				c.Off()
				for range 30 {
					c.On(tc.op, 1, loseRequest)
				}
				mustDo(t, tc.call(t.Context(), c))
			})
		})
	}
}
