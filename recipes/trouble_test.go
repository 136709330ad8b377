package recipes

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// refuse makes the server refuse the request by which a lock's clean-up begins.
func refuse(c *testConn, before func()) {
	for _, op := range []string{"delete", "multi"} {
		c.On(op, 1, rule{Before: before, Lose: true, Err: zk.ErrNoAuth})
	}
}

func TestRefusedCleanUpIsReportedByThoseWhoWait(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		refuse(c, func() { time.Sleep(time.Second) })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantError(t, l.Unlock(ctx), context.Canceled)
		wantError(t, l.Unlock(t.Context()), zk.ErrNoAuth)
		wantError(t, l.Close(t.Context()), zk.ErrNoAuth)
	})
}

func TestCloseReportsItsOwnRefusedCleanUp(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		refuse(c, nil)
		wantError(t, l.Close(t.Context()), zk.ErrNoAuth)
	})
}

func TestCloseReportsRefusedCleanUpOfAbandonedLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.Connect()), s.Connect()
		mustLock(t, holder)
		l := newLock(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.On("getW", 1, rule{After: func() {
			c.Off()
			refuse(c, func() { time.Sleep(time.Second) })
		}})
		c.On("multi", 1, loseRequest) // makes a herd lock doubt whether its node is there
		wantError(t, l.Lock(ctx), context.DeadlineExceeded)
		wantError(t, l.Close(t.Context()), zk.ErrNoAuth)
		mustUnlock(t, holder)
	})
}

func TestCloseOfLockOnClosedConnIsClean(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		c.Close()
		wantError(t, l.Unlock(t.Context()), ErrConnClosed)
		mustClose(t, l)
	})
}

func TestQueueCloseReportsRecordLeftByClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		c.On("delete", 1, rule{Before: c.Close})
		mustOffer(t, q, "b")
		wantError(t, q.Close(t.Context()), ErrConnClosed)
		s.WantBelow(t, "/q/dedup", 1)
	})
}
