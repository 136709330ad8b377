package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

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
