package recipes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// TestGrantedWhileClosing: Close ends an operation's context a moment after it has marked the
// recipe as closed. A grant in between is given back, and the call returns an error.
func TestGrantedWhileClosing(t *testing.T) {
	never := context.Background()
	t.Run("lock", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *testServer) {
			l := NewLock(s.Connect(), "/lock")
			l.cancel(ErrClosed)
			task := start(func(task *task[*hold]) (*hold, error) {
				return l.contend(never, l.requests(), task, nil, nil, true)
			})
			if held, _, err := task.await(never); held != nil || !errors.Is(err, ErrClosed) {
				t.Errorf("%v, %v; want %v", held, err, ErrClosed)
			}
			s.WantBelow(t, "/lock", 0)
		})
	})
	t.Run("semaphore", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *testServer) {
			sem := NewSemaphore(s.Connect(), "/sem", 1)
			sem.cancel(ErrClosed)
			task := start(func(task *task[[]*Lease]) ([]*Lease, error) {
				return sem.inTurn(never, sem.requests(), task, 1)
			})
			if lease, _, err := task.await(never); lease != nil || !errors.Is(err, ErrClosed) {
				t.Errorf("%v, %v; want %v", lease, err, ErrClosed)
			}
		})
	})
}

func TestGuaranteedDeleteWithADoneContext(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "")
		ctx := done(t)
		mustDo(t, GuaranteedDelete(ctx, c, "/n"))
		s.WantBelow(t, "/", 0)
	})
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
