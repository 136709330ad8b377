package recipes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// refuse makes the server refuse the request by which a lock's clean-up
// begins.
func refuse(c *fakeConn, before func()) {
	for _, op := range []string{"delete", "multi"} {
		c.on(op, 1, rule{before: before, lose: true, err: zk.ErrNoAuth})
	}
}

func TestRefusedCleanUpIsReportedByThoseWhoWait(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		refuse(c, func() { time.Sleep(time.Second) })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Unlock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("abandoned Unlock: %v", err)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("second Unlock: %v", err)
		}
		if err := l.Close(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestCloseReportsItsOwnRefusedCleanUp(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		refuse(c, nil)
		if err := l.Close(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestCloseReportsRefusedCleanUpOfAbandonedLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		mustLock(t, holder)
		l := newLock(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.on("getW", 1, rule{after: func() { c.rules = nil; refuse(c, func() { time.Sleep(time.Second) }) }})
		c.on("multi", 1, loseRequest) // makes a herd lock doubt whether its node is there
		if err := l.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock: %v", err)
		}
		if err := l.Close(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Close: %v", err)
		}
		mustUnlock(t, holder)
	})
}

func TestCloseOfLockOnClosedConnIsClean(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		c.close()
		if err := l.Unlock(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Unlock: %v", err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestQueueCloseReportsRecordLeftByClosedConn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		mustOffer(t, q, "a")
		c.on("delete", 1, rule{before: c.close})
		mustOffer(t, q, "b")
		if err := q.Close(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Close: %v", err)
		}
		s.wantBelow(t, "/q/dedup", 1)
	})
}
