package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

var threePaths = []string{"/m/c", "/m/a", "/m/b", "/m/a"}

// wantNodes checks the number of nodes of each of the locks.
func wantNodes(t *testing.T, s *testServer, a, b, c int) {
	t.Helper()
	for path, n := range map[string]int{"/m/a": a, "/m/b": b, "/m/c": c} {
		s.WantBelow(t, path, n)
	}
}

func TestMultiLockHoldsAllOrNone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m, b := NewMultiLock(s.Connect(), threePaths), NewLock(s.Connect(), "/m/b")
		mustLock(t, m)
		wantNodes(t, s, 1, 1, 1)
		for _, path := range threePaths {
			if m.Token(path) == 0 {
				t.Errorf("no token for %s", path)
			}
		}
		if err := m.Lock(t.Context()); !errors.Is(err, ErrHeld) || OutcomeOf(err) != NotApplied ||
			m.Token("/m") != 0 {
			t.Errorf("second Lock: %v", err)
		}
		lost := m.Lost()
		mustUnlock(t, m)
		if !closed(lost) || !closed(m.Lost()) {
			t.Error("not lost by Unlock")
		}
		mustLock(t, b)
		wantTry(t, m, false)
		ctx := within(t, time.Second)
		wantFailure(t, m.Lock(ctx), context.DeadlineExceeded, NotApplied)
		wantNodes(t, s, 0, 1, 0)
		mustUnlock(t, b)
		mustLock(t, m)
		mustClose(t, m)
		wantNodes(t, s, 0, 0, 0)
		check.Is(t, m.Lock(t.Context()), ErrClosed)
	})
}

func TestMultiLockIsLostWithAnyLock(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		m := NewMultiLock(c, threePaths)
		for _, lose := range []func(){
			func() { c.Expire() },
			func() { s.Delete(m.NodePaths()[1]) },
		} {
			mustLock(t, m)
			lost := m.Lost()
			lose()
			if !closed(lost) {
				t.Error("not lost")
			}
			mustLock(t, m) // gives the remaining locks back
			wantNodes(t, s, 1, 1, 1)
			mustUnlock(t, m)
		}
		mustClose(t, m)
	})
}

// TestMultiLockBeginsAgain when a lock is lost while it gets the others.
func TestMultiLockBeginsAgain(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		m := NewMultiLock(c, threePaths)
		c.On("getW", 3, rule{Before: func() { c.Expire() }})
		mustLock(t, m)
		for _, path := range m.NodePaths() {
			s.WantOwner(t, path, c.SessionID())
		}
		mustUnlock(t, m)
		wantNodes(t, s, 0, 0, 0)
	})
}

func TestMultiLockNeedsAPath(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		m := NewMultiLock(s.Connect(), nil)
		err := m.Lock(t.Context())
		held, tryErr := m.TryLock(t.Context())
		if err == nil || held || tryErr == nil || OutcomeOf(err) != NotApplied ||
			!closed(m.Lost()) {
			t.Errorf("Lock: %v, TryLock: %v %v", err, held, tryErr)
		}
		check.Is(t, m.Unlock(t.Context()), ErrNotHeld)
		mustClose(t, m)
	})
}

// TestMultiLockGivesUpInTime when its caller leaves in the middle.
func TestMultiLockGivesUpInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		last := NewLock(s.Connect(), "/m/c")
		mustLock(t, last)
		c := s.Connect()
		m := NewMultiLock(c, threePaths)
		ctx := within(t, time.Minute)
		time.AfterFunc(59*time.Second, c.Disconnect)
		began := time.Now()
		check.Is(t, m.Lock(ctx), context.DeadlineExceeded)
		if took := time.Since(began); took > time.Minute+2*grace {
			t.Errorf("took %v", took)
		}
		c.Reconnect()
		for _, err := range []error{m.Close(t.Context()), last.Close(t.Context())} {
			if err != nil {
				t.Error(err)
			}
		}
		wantNodes(t, s, 0, 0, 0)
	})
}

// TestSeveralHoldsAreGivenBackAtOnce: the pauses of the single locks do not add up.
func TestSeveralHoldsAreGivenBackAtOnce(t *testing.T) {
	several := func(t *testing.T, c Conn) handleLocker {
		m := NewMultiLock(c, threePaths)
		mustLock(t, m)
		return onePath{m}
	}
	for name, tc := range map[string]struct {
		hold func(t *testing.T, c Conn) handleLocker
		end  func(l handleLocker, ctx context.Context) error
	}{
		"unlock several": {several, handleLocker.Unlock},
		"close several":  {several, handleLocker.Close},
		"close both sides": {func(t *testing.T, c Conn) handleLocker {
			l := NewRWLock(c, "/m/a")
			mustLock(t, l)
			mustDo(t, l.RLock(t.Context()))
			return bothSides{l}
		}, handleLocker.Close},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				l := tc.hold(t, c)
				c.Disconnect()
				began := time.Now()
				if err := tc.end(l, done(t)); OutcomeOf(err) != Unknown || !closed(l.Lost()) {
					t.Errorf("%v, lost %v", err, closed(l.Lost()))
				}
				if took := time.Since(began); took > grace {
					t.Errorf("took %v, more than %v", took, grace)
				}
				c.Reconnect()
				mustClose(t, l)
				wantOwned(t, s, 0)
			})
		})
	}
}

// bothSides is lost with both sides of a read-write lock.
type bothSides struct{ *RWLock }

func (l bothSides) Lost() <-chan struct{} {
	<-l.RLost()
	return l.RWLock.Lost()
}

// TestCloseEndsAMultiLockThatGivesBack: a Lock of a MultiLock ends with Close, although its locks
// cannot be given back while no server answers.
func TestCloseEndsAMultiLockThatGivesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		other := NewLock(s.Connect(), "/m/c")
		mustLock(t, other)
		c := s.Connect()
		m := NewMultiLock(c, threePaths)
		ended := make(chan error, 1)
		go func() { ended <- m.Lock(context.Background()) }()
		time.Sleep(time.Second)
		wantNodes(t, s, 1, 1, 2)
		c.Disconnect()
		go func() {
			mustDo(t, m.Close(context.Background()))
		}()
		time.Sleep(time.Second)
		select {
		case err := <-ended:
			check.Is(t, err, ErrClosed, "error")
		default:
			t.Error("Lock goes on")
		}
		c.Reconnect()
		time.Sleep(10 * time.Second)
		mustUnlock(t, other)
		wantNodes(t, s, 0, 0, 0)
	})
}
