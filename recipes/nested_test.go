package recipes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// way is one way to hold a lock that may be locked again.
type way struct {
	lock, unlock func(context.Context) error
	lost         func() <-chan struct{}
	token        func() int64
	close        func(context.Context) error
}

var ways = map[string]func(c Conn, opts ...Option) way{
	"ReentrantLock": func(c Conn, opts ...Option) way {
		l := NewReentrantLock(c, "/n", opts...)
		return way{l.Lock, l.Unlock, l.Lost, l.Token, l.Close}
	},
	"RWLock, writing": func(c Conn, opts ...Option) way {
		l := NewRWLock(c, "/n", opts...)
		return way{l.Lock, l.Unlock, l.Lost, l.Token, l.Close}
	},
	"VersionRWLock, writing": func(c Conn, opts ...Option) way {
		l := NewVersionRWLock(c, "/n", opts...)
		return way{l.Lock, l.Unlock, l.Lost, l.Token, l.Close}
	},
	"VersionRWLock, reading": func(c Conn, opts ...Option) way {
		l := NewVersionRWLock(c, "/n", opts...)
		return way{l.RLock, l.RUnlock, l.RLost, l.RToken, l.Close}
	},
	"RWLock, reading": func(c Conn, opts ...Option) way {
		l := NewRWLock(c, "/n", opts...)
		return way{l.RLock, l.RUnlock, l.RLost, l.RToken, l.Close}
	},
}

// everyWay runs a test for each way to hold in a bubble.
func everyWay(
	t *testing.T, test func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way),
) {
	for name, newWay := range ways {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) { test(t, s, newWay) })
		})
	}
}

func (w way) must(t *testing.T, operations ...func(context.Context) error) {
	t.Helper()
	for _, operation := range operations {
		if err := operation(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFurtherLevelsCostNoRequest(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		c := s.Connect()
		w := newWay(c)
		w.must(t, w.lock)
		before, token, lost := len(c.Calls()), w.token(), w.lost()
		w.must(t, w.lock, w.lock, w.unlock, w.unlock)
		if len(c.Calls()) != before || w.token() != token || closed(lost) {
			t.Errorf(
				"%d requests, token %d after %d, lost %v",
				len(c.Calls())-before, w.token(), token, closed(lost),
			)
		}
		s.WantBelow(t, "/n", 1)
		w.must(t, w.unlock)
		if !closed(lost) || w.token() != 0 {
			t.Errorf("held after the last unlock")
		}
		s.WantBelow(t, "/n", 0)
		w.must(t, w.unlock) // one more does nothing
		w.must(t, w.lock, w.unlock, w.close)
		s.WantBelow(t, "/n", 0)
	})
}

// TestNoLevelOutlivesItsHold: lock counters that ignore sessions have this bug.
func TestNoLevelOutlivesItsHold(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		c := s.Connect()
		w := newWay(c)
		w.must(t, w.lock, w.lock)
		first := w.token()
		c.Expire()
		if err := w.lock(t.Context()); !errors.Is(err, ErrLost) || OutcomeOf(err) != NotApplied {
			t.Errorf("lock of what is lost: %v", err)
		}
		w.must(t, w.unlock)
		if err := w.lock(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("lock before the last unlock: %v", err)
		}
		w.must(t, w.unlock, w.lock)
		if w.token() <= first || closed(w.lost()) {
			t.Errorf("token %d after %d", w.token(), first)
		}
		s.WantBelow(t, "/n", 1)
		w.must(t, w.unlock, w.close)
		s.WantBelow(t, "/n", 0)
	})
}

func TestDoneContextGoesNoLevelDeeper(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		w := newWay(s.Connect())
		w.must(t, w.lock)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.lock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("lock: %v", err)
		}
		w.must(t, w.unlock)
		s.WantBelow(t, "/n", 0)
	})
}

func TestUnlockOfLevelsSurvivesLostReply(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
			c := s.Connect()
			w := newWay(c)
			w.must(t, w.lock, w.lock)
			c.On("delete", 1, fault)
			w.must(t, w.unlock, w.unlock)
			s.WantBelow(t, "/n", 0)
		}
	})
}

func TestCloseGivesAllLevelsBack(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		w := newWay(s.Connect())
		w.must(t, w.lock, w.lock)
		lost := w.lost()
		w.must(t, w.close)
		s.WantBelow(t, "/n", 0)
		if err := w.lock(t.Context()); !errors.Is(err, ErrClosed) || !closed(lost) {
			t.Errorf("lock after Close: %v", err)
		}
	})
}

func TestSecondAcquisitionOfOneOwnerIsRefused(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		version := NewVersionRWLock(s.Connect(), "/n")
		other := NewRWLock(s.Connect(), "/n")
		lock := NewLock(s.Connect(), "/n")
		mustLock(t, version)
		mustLock(t, other)
		mustLock(t, lock)
		w := newWay(s.Connect())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- w.lock(ctx) }()
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		if err := w.lock(t.Context()); !errors.Is(err, ErrHeld) {
			t.Errorf("second lock: %v", err)
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("first lock: %v", err)
		}
		mustUnlock(t, lock)
		mustUnlock(t, other)
		mustUnlock(t, version)
		s.WantBelow(t, "/n", 0)
	})
}

func TestTryLockOfNestedLocks(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		l, other := NewReentrantLock(s.Connect(), "/n"), NewReentrantLock(s.Connect(), "/n")
		for range 2 {
			if held, err := l.TryLock(t.Context()); !held || err != nil {
				t.Fatalf("TryLock: %v %v", held, err)
			}
		}
		if held, err := other.TryLock(t.Context()); held || err != nil {
			t.Errorf("TryLock of another: %v %v", held, err)
		}
		mustUnlock(t, l)
		mustUnlock(t, l)
		s.WantBelow(t, "/n", 0)
	})
}

func TestRefusalOfNestedLockIsReported(t *testing.T) {
	everyWay(t, func(t *testing.T, s *testServer, newWay func(c Conn, opts ...Option) way) {
		c := s.Connect()
		c.On("create", 2, refusal)
		c.On("multi", 1, refusal)
		w := newWay(c)
		if err := w.lock(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("lock: %v", err)
		}
	})
}
