package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// doer is a lock with Do.
type doer interface {
	handleLocker
	Do(ctx context.Context, work func(ctx context.Context, token int64) error) error
}

// everyDoer is everyLock for those with Do. At the end nothing may be left on the server.
func everyDoer(t *testing.T, test func(t *testing.T, c *testConn, l doer)) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		if l, ok := k.open(c).(doer); ok {
			test(t, c, l)
			mustClose(t, l)
			wantOwned(t, s, 0)
		}
	})
}

var errWork = errors.New("work failed")

func TestDoReturnsTheErrorOfWork(t *testing.T) {
	everyDoer(t, func(t *testing.T, c *testConn, l doer) {
		for _, want := range []error{nil, errWork} {
			called := false
			err := l.Do(t.Context(), func(ctx context.Context, token int64) error {
				called = token > 0 && token == l.Token() && ctx.Err() == nil
				return want
			})
			if err != want || !called || !closed(l.Lost()) {
				t.Errorf("got %v, called with the token: %v; expected %v", err, called, want)
			}
		}
	})
}

func TestDoDoesNotWorkWithoutTheLock(t *testing.T) {
	everyDoer(t, func(t *testing.T, c *testConn, l doer) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errWork)
		check.Is(t, l.Do(ctx, func(context.Context, int64) error {
			t.Error("work was called")
			return nil
		}), errWork)
	})
}

// TestDoTellsOfALoss, whatever work returns.
func TestDoTellsOfALoss(t *testing.T) {
	type ending struct {
		end  func(t *testing.T, c *testConn, l doer)
		want error
	}
	endings := map[string]ending{
		"expiry": {func(_ *testing.T, c *testConn, _ doer) { c.Expire() }, ErrLost},
		"silence": {func(_ *testing.T, c *testConn, _ doer) {
			c.Disconnect()
			time.Sleep(shortSessionTimeout / 3)
			c.Reconnect()
		}, ErrLost},
		"close": {func(t *testing.T, _ *testConn, l doer) { mustClose(t, l) }, ErrClosed},
	}
	for name, e := range endings {
		for _, failure := range []error{nil, errWork, e.want} {
			everyDoer(t, func(t *testing.T, c *testConn, l doer) {
				err := l.Do(t.Context(), func(ctx context.Context, _ int64) error {
					e.end(t, c, l)
					<-ctx.Done()
					check.Is(t, context.Cause(ctx), e.want)
					return failure
				})
				check.Is(t, err, e.want)
				if failure != nil {
					check.Is(t, err, failure)
				}
				if t.Failed() {
					t.Log("after", name)
				}
			})
		}
	}
}

// TestDoNoticesAnUnlockByWork, and leaves the next hold alone.
func TestDoNoticesAnUnlockByWork(t *testing.T) {
	everyDoer(t, func(t *testing.T, c *testConn, l doer) {
		if _, ok := l.(*oneLease); ok {
			return // its leases are separate
		}
		check.Is(t, l.Do(t.Context(), func(ctx context.Context, _ int64) error {
			mustUnlock(t, l)
			mustLock(t, l)
			return nil
		}), ErrLost)
		if closed(l.Lost()) {
			t.Error("Do has given back a hold that is not its own")
		}
		mustUnlock(t, l)
	})
}

func TestDoGivesBackWhenWorkPanics(t *testing.T) {
	everyDoer(t, func(t *testing.T, c *testConn, l doer) {
		for _, down := range []bool{false, true} {
			panicked := func() (value any) {
				defer func() { value = recover() }()
				return l.Do(t.Context(), func(context.Context, int64) error {
					if down {
						c.Disconnect()
					}
					panic(errWork)
				})
			}
			began := time.Now()
			if got := panicked(); got != errWork || time.Since(began) > time.Second {
				t.Errorf("got %v after %v; expected a panic at once", got, time.Since(began))
			}
			if !closed(l.Lost()) {
				t.Error("the lock is still held")
			}
		}
		c.Reconnect()
	})
}

// TestDoTellsOfAReleaseInDoubt, beside the error of work.
func TestDoTellsOfAReleaseInDoubt(t *testing.T) {
	everyDoer(t, func(t *testing.T, c *testConn, l doer) {
		ctx, cancel := context.WithCancel(t.Context())
		err := l.Do(ctx, func(ctx context.Context, _ int64) error {
			c.Disconnect()
			cancel()
			<-ctx.Done()
			return errWork
		})
		check.Is(t, err, errWork)
		check.Is(t, err, ErrAmbiguous)
		check.Is(t, err, context.Canceled)
		c.Reconnect()
		mustLock(t, l)
		mustUnlock(t, l)
	})
}

// TestDoGoesALevelDeeper in a lock that is re-entrant.
func TestDoGoesALevelDeeper(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewReentrantLock(c, "/l")
		check.OK(t, l.Do(t.Context(), func(ctx context.Context, outer int64) error {
			err := l.Do(ctx, func(_ context.Context, inner int64) error {
				check.Equal(t, inner, outer, "the inner token")
				return nil
			})
			if closed(l.Lost()) {
				t.Error("the inner level has given the lock back")
			}
			return err
		}))
		mustClose(t, l)
		wantOwned(t, s, 0)
	})
}

func TestDoOfALatchEndsWithItsTerm(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := started(t, NewLeaderLatch(c, "/e", "a"))
		var first int64
		check.Is(t, l.Do(t.Context(), func(ctx context.Context, epoch int64) error {
			first = epoch
			c.Expire()
			<-ctx.Done()
			check.Is(t, context.Cause(ctx), ErrLeadershipLost)
			return nil
		}), ErrLeadershipLost)
		for _, want := range []error{nil, errWork} {
			err := l.Do(t.Context(), func(ctx context.Context, epoch int64) error {
				if epoch <= first {
					t.Errorf("epochs %d, %d", first, epoch)
				}
				return want
			})
			if err != want || !l.HasLeadership() {
				t.Errorf("got %v, leads: %v; expected %v", err, l.HasLeadership(), want)
			}
		}
		check.Is(t, l.Do(t.Context(), func(context.Context, int64) error {
			mustClose(t, l)
			return nil
		}), ErrClosed)
		check.Is(t, l.Do(t.Context(), nil), ErrClosed)
	})
}
