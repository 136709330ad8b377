package recipes_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestMain(m *testing.M) { testrun.MainThatConnects(m) }

// locker has the common methods of most locks.
type locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// queuer has the common methods of the first-in-first-out queues.
type queuer interface {
	closer
	Offer(ctx context.Context, data []byte) error
	Peek(ctx context.Context) (data []byte, ok bool, err error)
	Poll(ctx context.Context) (data []byte, ok bool, err error)
	Take(ctx context.Context) ([]byte, error)
}

// closer ends a recipe, or a part of one.
type closer interface{ Close(context.Context) error }

type (
	testServer = testconn.Server
	testConn   = testconn.Conn
	rule       = testconn.Rule
)

// grace is the time for which a caller waits for clean-up after its context is done, and
// shortSessionTimeout the session timeout that a recipe takes for granted; see the package comment.
const (
	grace               = 100 * time.Millisecond
	shortSessionTimeout = 4 * time.Second
)

var (
	loseReply   = testconn.LoseReply
	loseRequest = testconn.LoseRequest
	netError    = testconn.NetError
	noServer    = testconn.NoServer
	refusal     = testconn.Refused
)

func inBubble(t *testing.T, test func(t *testing.T, s *testServer)) { testconn.InBubble(t, test) }

// mustDo reports an error. Like mustClose it may be called from any goroutine.
func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// wantFailure is wantError that also checks the outcome of an error.
func wantFailure(t *testing.T, err, want error, outcome Outcome) {
	t.Helper()
	if !errors.Is(err, want) || OutcomeOf(err) != outcome {
		t.Errorf("got %v, %v; want %v, %v", err, OutcomeOf(err), want, outcome)
	}
}

func mustClose(t *testing.T, recipes ...closer) {
	t.Helper()
	for _, r := range recipes {
		mustDo(t, r.Close(t.Context()))
	}
}

// within is a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// done is a context that has ended.
func done(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// waiting begins a call and returns the channel of its result, a second later.
func waiting(t *testing.T, call func(context.Context) error) chan error {
	result := make(chan error, 1)
	go func() { result <- call(t.Context()) }()
	time.Sleep(time.Second)
	return result
}

func wantAll(t *testing.T, results ...chan error) {
	t.Helper()
	for i, result := range results {
		if err := <-result; err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// letSettle waits until nothing is under way.
func letSettle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// closed reports whether a channel is closed when nothing is under way.
func closed(ch <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// expiry ends the session of a connection, with its ephemeral nodes or without them.
func expiry(c *testConn, late bool) func() {
	if late {
		return func() { c.ExpireLate(testconn.Stays) }
	}
	return c.Expire
}

// abandoning is a fault after which the caller leaves and the connection is lost.
func abandoning(t *testing.T, c *testConn, fault rule) (context.Context, rule) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	fault.After = func() { cancel(); c.Disconnect() }
	return ctx, fault
}

// alone runs a test in a bubble, with one connection.
func alone(t *testing.T, test func(t *testing.T, s *testServer, c *testConn)) {
	t.Helper()
	inBubble(t, func(t *testing.T, s *testServer) { test(t, s, s.Connect()) })
}

// handles runs a test of n handles, each with its own connection. In the end nothing is left below
// the directory.
func handles[H closer](
	t *testing.T, n int, dir string, open func(Conn) H,
	test func(t *testing.T, s *testServer, m []H, c []*testConn),
) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var members []H
		var conns []*testConn
		for range n {
			conns = append(conns, s.Connect())
			members = append(members, open(conns[len(conns)-1]))
		}
		test(t, s, members, conns)
		mustCloseAll(t, members)
		s.WantBelow(t, dir, 0)
	})
}

// abandon starts an operation, delays its next request of the kind by ten seconds, and ends its
// context meanwhile. It returns the requests that were sent after that one.
func abandon(
	t *testing.T, c *testConn, op string, r rule, operation func(ctx context.Context) error,
) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	sent := 0
	r.Before = func() { time.Sleep(10 * time.Second); sent = len(c.Calls()) }
	c.On(op, 1, r)
	if err := operation(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("abandoned in %s: %v", op, err)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	return c.Calls()[sent:]
}

// mustCloseAll is mustClose of a slice.
func mustCloseAll[C closer](t *testing.T, recipes []C) {
	t.Helper()
	for _, r := range recipes {
		mustClose(t, r)
	}
}

// errOf is the error of a call with a result.
func errOf[T any](_ T, err error) error { return err }

// errOf2 drops the first of two results.
func errOf2[T, U any](_ T, second U, err error) (U, error) { return second, err }

// wantOutcome checks the outcome of an error.
func wantOutcome(t *testing.T, err error, want Outcome) {
	t.Helper()
	check.Equal(t, OutcomeOf(err), want, "%v", err)
}

// seedOnes makes nodes with the data "1".
func seedOnes(s *testServer, paths ...string) {
	for _, path := range paths {
		s.Seed(path, "1")
	}
}
