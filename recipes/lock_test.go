package recipes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// handleLocker is what Lock and HerdLock have in common.
type handleLocker interface {
	Locker
	TryLock(ctx context.Context) (bool, error)
	Lost() <-chan struct{}
	Token() int64
	Path() string
	Close(ctx context.Context) error
}

var kinds = map[string]func(Conn, ...Option) handleLocker{
	"Lock":     func(c Conn, o ...Option) handleLocker { return NewLock(c, "/locks/a", o...) },
	"HerdLock": func(c Conn, o ...Option) handleLocker { return NewHerdLock(c, "/locks/a/node", o...) },
}

// everyLock runs a test for each kind of lock in a bubble. The bubble fails if
// a goroutine is left at the end.
func everyLock(t *testing.T, test func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker)) {
	for _, kind := range []string{"Lock", "HerdLock"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newFakeServer(), kinds[kind]) })
		})
	}
}

func mustLock(t *testing.T, l Locker) {
	t.Helper()
	if err := l.Lock(t.Context()); err != nil {
		t.Fatalf("Lock: %v", err)
	}
}

func mustUnlock(t *testing.T, l Locker) {
	t.Helper()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatalf("Unlock: %v", err)
	}
}

func (s *fakeServer) wantBelow(t *testing.T, path string, n int) {
	t.Helper()
	synctest.Wait()
	if names := s.below(path); len(names) != n {
		t.Fatalf("nodes below %s: %v, want %d", path, names, n)
	}
}

func closed(ch <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestLockExcludesAlsoOnOneConn(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		one, two := s.connect(), s.connect()
		owners, last := 0, int64(0)
		done := make(chan struct{}, 3)
		for _, l := range []handleLocker{newLock(one), newLock(one), newLock(two)} {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 5 {
					mustLock(t, l)
					if owners++; owners != 1 {
						t.Errorf("%d owners", owners)
					}
					if l.Token() <= last {
						t.Errorf("token %d after %d", l.Token(), last)
					}
					last = l.Token()
					time.Sleep(time.Second)
					owners--
					mustUnlock(t, l)
				}
			}()
		}
		for range 3 {
			<-done
		}
		s.wantBelow(t, "/locks/a", 0)
	})
}

func TestLostReplyToCreateIsFoundAgain(t *testing.T) {
	for name, fault := range map[string]rule{"reply": loseReply, "net error": netError, "request": loseRequest, "no server": noServer} {
		everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
			c := s.connect()
			l := newLock(c)
			mustLock(t, l) // makes the parents
			mustUnlock(t, l)
			for _, op := range []string{"create", "multi", "children", "getW", "sync"} {
				c.on(op, 1, fault)
			}
			mustLock(t, l)
			if own := strings.Count(strings.Join(s.below("/locks/a"), " "), "_c_"); own > 1 {
				t.Errorf("%s: %d nodes", name, own)
			}
			mustUnlock(t, l)
			s.wantBelow(t, "/locks/a", 0)
		})
	}
}

func TestExpiryBetweenRequestsMakesNewNode(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, op := range []string{"create", "multi", "children", "getW"} {
			everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
				c := s.connect()
				l := newLock(c)
				mustLock(t, l)
				mustUnlock(t, l)
				c.on(op, 1, rule{after: func() { c.expire(late) }})
				mustLock(t, l)
				s.wantOwner(t, l.Path(), c.SessionID())
				mustUnlock(t, l)
				s.wantBelow(t, "/locks/a", 0)
			})
		}
	}
}

func TestLostReplyAndLateReapIsNotAdopted(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		mustUnlock(t, l)
		for _, op := range []string{"create", "multi"} {
			c.on(op, 1, rule{err: zk.ErrSessionExpired, after: func() { c.expire(true) }})
		}
		mustLock(t, l)
		s.wantOwner(t, l.Path(), c.SessionID())
		mustUnlock(t, l)
		s.wantBelow(t, "/locks/a", 0)
	})
}

func (s *fakeServer) wantOwner(t *testing.T, path string, session int64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.nodes[path].stat.EphemeralOwner; got != session {
		t.Fatalf("owner of %q is %d, want %d", path, got, session)
	}
}

func TestCancelledWaitLeavesNothing(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		waiter := newLock(c)
		mustLock(t, holder)
		before := len(s.below("/locks/a"))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c.on("delete", 1, loseReply)
		if err := waiter.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Lock: %v", err)
		}
		s.wantBelow(t, "/locks/a", before)
		mustUnlock(t, holder)
		mustLock(t, waiter)
		mustUnlock(t, waiter)
		s.wantBelow(t, "/locks/a", 0)
	})
}

func TestCancelWhileDisconnectedReturnsAndCleansUpLater(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		mustUnlock(t, l)
		c.on("create", 1, rule{before: c.disconnect, err: zk.ErrConnectionClosed})
		c.on("multi", 1, rule{before: c.disconnect, err: zk.ErrConnectionClosed})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := l.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Lock: %v", err)
		}
		if took := time.Since(began); took > time.Second+grace {
			t.Errorf("Lock returned after %v", took)
		}
		c.reconnect()
		if err := l.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		s.wantBelow(t, "/locks/a", 0)
		if err := l.Lock(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Lock after Close: %v", err)
		}
	})
}

func TestUnlockWithLostReplyLeavesHandleUsable(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
			c := s.connect()
			l := newLock(c)
			for range 2 {
				mustLock(t, l)
				c.rules = nil
				c.on("delete", 1, fault) // Lock
				c.on("multi", 1, fault)  // HerdLock
				mustUnlock(t, l)
				mustUnlock(t, l)
				s.wantBelow(t, "/locks/a", 0)
			}
		}
	})
}

func TestUnlockWithDoneContextDeletesInBackground(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		lost := l.Lost()
		c.disconnect()
		if err := l.Unlock(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Unlock: %v", err)
		}
		if !closed(lost) || l.Token() != 0 || l.Path() != "" {
			t.Errorf("still held after Unlock: token %d, path %q", l.Token(), l.Path())
		}
		c.reconnect()
		mustUnlock(t, l)
		s.wantBelow(t, "/locks/a", 0)
	})
}

func TestLostIsClosed(t *testing.T) {
	for name, lose := range map[string]func(s *fakeServer, c *fakeConn, path string){
		"expiry":    func(_ *fakeServer, c *fakeConn, _ string) { c.expire(false) },
		"late reap": func(_ *fakeServer, c *fakeConn, _ string) { c.expire(true) },
		"deleted":   func(s *fakeServer, _ *fakeConn, path string) { s.mu.Lock(); s.remove(path); s.mu.Unlock() },
		"closed":    func(_ *fakeServer, c *fakeConn, _ string) { c.close() },
	} {
		everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
			c := s.connect()
			l := newLock(c)
			mustLock(t, l)
			lost := l.Lost()
			if closed(lost) {
				t.Fatal("lost from the start")
			}
			lose(s, c, l.Path())
			if !closed(lost) {
				t.Errorf("not lost after %s", name)
			}
			if name != "closed" {
				mustLock(t, l) // without Unlock
				if closed(l.Lost()) {
					t.Errorf("new hold is lost after %s", name)
				}
				mustUnlock(t, l)
				s.wantBelow(t, "/locks/a", 0)
			}
		})
	}
}

func TestLostByLocalClock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c, SessionTimeout(9*time.Second))
		mustLock(t, l)
		time.Sleep(time.Minute)
		c.disconnect()
		time.Sleep(time.Second)
		c.reconnect()
		if closed(l.Lost()) {
			t.Fatal("lost by a short disconnection")
		}
		time.Sleep(time.Second)
		c.disconnect()
		time.Sleep(3 * time.Second)
		if !closed(l.Lost()) {
			t.Error("not lost a third of the timeout after the disconnection")
		}
		c.reconnect()
		mustUnlock(t, l)
	})
}

func TestWaiterSurvivesExpiry(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		waiter := newLock(c)
		mustLock(t, holder)
		got := make(chan struct{}, 1)
		go func() { mustLock(t, waiter); got <- struct{}{} }()
		time.Sleep(time.Second)
		c.expire(true)
		time.Sleep(time.Second)
		mustUnlock(t, holder)
		<-got
		s.wantOwner(t, waiter.Path(), c.SessionID())
		mustUnlock(t, waiter)
		s.wantBelow(t, "/locks/a", 0)
	})
}

func TestTryLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		l := newLock(c)
		mustLock(t, holder)
		before := len(s.below("/locks/a"))
		if ok, err := l.TryLock(t.Context()); ok || err != nil {
			t.Fatalf("TryLock of a held lock: %v %v", ok, err)
		}
		s.wantBelow(t, "/locks/a", before)
		if err := holder.Lock(t.Context()); !errors.Is(err, ErrHeld) {
			t.Errorf("second Lock: %v", err)
		}
		mustUnlock(t, holder)
		if ok, err := l.TryLock(t.Context()); !ok || err != nil {
			t.Fatalf("TryLock of a free lock: %v %v", ok, err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		s.wantBelow(t, "/locks/a", 0)
	})
}

func TestClosedConnEndsEverything(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		mustLock(t, holder)
		waiter := newLock(c)
		failed := make(chan error, 1)
		go func() { failed <- waiter.Lock(t.Context()) }()
		time.Sleep(time.Second)
		c.close()
		if err := <-failed; !errors.Is(err, ErrConnClosed) {
			t.Errorf("waiting Lock: %v", err)
		}
		if err := waiter.Lock(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Lock: %v", err)
		}
		if n := c.called("create") + c.called("multi"); n > 20 {
			t.Errorf("%d requests on a closed connection", n)
		}
		mustUnlock(t, holder)
	})
}

func TestCloseEndsWaitingLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, waiter := newLock(s.connect()), newLock(s.connect())
		mustLock(t, holder)
		failed := make(chan error, 1)
		go func() { failed <- waiter.Lock(t.Context()) }()
		time.Sleep(time.Second)
		if err := waiter.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("Lock: %v", err)
		}
		mustUnlock(t, holder)
		s.wantBelow(t, "/locks/a", 0)
	})
}

// TestHoldIsOverWithItsSession, though no watch has told of that yet.
func TestHoldIsOverWithItsSession(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.connect()
		l := newLock(c)
		mustLock(t, l)
		lost := l.Lost()
		s.mu.Lock()
		c.session += 1000
		s.mu.Unlock()
		if closed(lost) {
			t.Fatal("the watch has told")
		}
		mustLock(t, l)
		if s.wantOwner(t, l.Path(), c.SessionID()); !closed(lost) {
			t.Error("the old hold goes on")
		}
		mustUnlock(t, l)
	})
}
