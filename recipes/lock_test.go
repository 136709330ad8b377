package recipes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// handleLocker has the common methods of Lock and HerdLock.
type handleLocker interface {
	locker
	TryLock(ctx context.Context) (bool, error)
	Lost() <-chan struct{}
	Token() int64
	Path() string
	Close(ctx context.Context) error
}

var kinds = map[string]func(Conn, ...Option) handleLocker{
	"Lock": func(c Conn, o ...Option) handleLocker { return NewLock(c, "/locks/a", o...) },
	"HerdLock": func(c Conn, o ...Option) handleLocker {
		return NewHerdLock(c, "/locks/a/node", o...)
	},
}

// everyLock runs a test for each kind of lock in a bubble. The bubble fails if a goroutine is left
// at the end.
func everyLock(
	t *testing.T,
	test func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker),
) {
	for _, kind := range []string{"Lock", "HerdLock"} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) { test(t, s, kinds[kind]) })
		})
	}
}

func mustLock(t *testing.T, l locker) {
	t.Helper()
	if err := l.Lock(t.Context()); err != nil {
		t.Fatalf("Lock: %v", err)
	}
}

func mustUnlock(t *testing.T, l locker) {
	t.Helper()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatalf("Unlock: %v", err)
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
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		one, two := s.Connect(), s.Connect()
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
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestLostReplyToCreateIsFoundAgain(t *testing.T) {
	for name, fault := range map[string]rule{
		"reply": loseReply, "net error": netError, "request": loseRequest, "no server": noServer,
	} {
		everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
			c := s.Connect()
			l := newLock(c)
			mustLock(t, l) // makes the parents
			mustUnlock(t, l)
			for _, op := range []string{"create", "multi", "children", "getW", "sync"} {
				c.On(op, 1, fault)
			}
			mustLock(t, l)
			if own := strings.Count(strings.Join(s.Below("/locks/a"), " "), "_c_"); own > 1 {
				t.Errorf("%s: %d nodes", name, own)
			}
			mustUnlock(t, l)
			s.WantBelow(t, "/locks/a", 0)
		})
	}
}

func TestExpiryBetweenRequestsMakesNewNode(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, op := range []string{"create", "multi", "children", "getW"} {
			everyLock(t,
				func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
					c := s.Connect()
					l := newLock(c)
					mustLock(t, l)
					mustUnlock(t, l)
					c.On(op, 1, rule{After: expiry(c, late)})
					mustLock(t, l)
					s.WantOwner(t, l.Path(), c.SessionID())
					mustUnlock(t, l)
					s.WantBelow(t, "/locks/a", 0)
				})
		}
	}
}

func TestLostReplyAndLateReapIsNotAdopted(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		mustUnlock(t, l)
		for _, op := range []string{"create", "multi"} {
			c.On(op, 1, rule{Err: zk.ErrSessionExpired, After: func() {
				c.ExpireLate(testconn.Stays)
			}})
		}
		mustLock(t, l)
		s.WantOwner(t, l.Path(), c.SessionID())
		mustUnlock(t, l)
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestCancelledWaitLeavesNothing(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.Connect()), s.Connect()
		waiter := newLock(c)
		mustLock(t, holder)
		before := len(s.Below("/locks/a"))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c.On("delete", 1, loseReply)
		if err := waiter.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Lock: %v", err)
		}
		s.WantBelow(t, "/locks/a", before)
		mustUnlock(t, holder)
		mustLock(t, waiter)
		mustUnlock(t, waiter)
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestCancelWhileDisconnectedReturnsAndCleansUpLater(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		mustUnlock(t, l)
		c.On("create", 1, rule{Fault: fault.DropReply, After: c.Disconnect})
		c.On("multi", 1, rule{Fault: fault.DropReply, After: c.Disconnect})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := l.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Lock: %v", err)
		}
		if took := time.Since(began); took > time.Second+grace {
			t.Errorf("Lock returned after %v", took)
		}
		c.Reconnect()
		if err := l.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		s.WantBelow(t, "/locks/a", 0)
		if err := l.Lock(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Lock after Close: %v", err)
		}
	})
}

func TestUnlockWithLostReplyLeavesHandleUsable(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
			c := s.Connect()
			l := newLock(c)
			for range 2 {
				mustLock(t, l)
				c.Off()
				c.On("delete", 1, fault) // Lock
				c.On("multi", 1, fault)  // HerdLock
				mustUnlock(t, l)
				mustUnlock(t, l)
				s.WantBelow(t, "/locks/a", 0)
			}
		}
	})
}

func TestUnlockWithDoneContextDeletesInBackground(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		mustLock(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		lost := l.Lost()
		c.Disconnect()
		if err := l.Unlock(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Unlock: %v", err)
		}
		if !closed(lost) || l.Token() != 0 || l.Path() != "" {
			t.Errorf("still held after Unlock: token %d, path %q", l.Token(), l.Path())
		}
		c.Reconnect()
		mustUnlock(t, l)
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestLostIsClosed(t *testing.T) {
	for name, lose := range map[string]func(s *testServer, c *testConn, path string){
		"expiry":    func(_ *testServer, c *testConn, _ string) { c.Expire() },
		"late reap": func(_ *testServer, c *testConn, _ string) { c.ExpireLate(testconn.Stays) },
		"deleted":   func(s *testServer, _ *testConn, path string) { s.Delete(path) },
		"closed":    func(_ *testServer, c *testConn, _ string) { c.Close() },
	} {
		everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
			c := s.Connect()
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
				s.WantBelow(t, "/locks/a", 0)
			}
		})
	}
}

func TestLostByLocalClock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c, SessionTimeout(9*time.Second))
		mustLock(t, l)
		time.Sleep(time.Minute)
		c.Disconnect()
		time.Sleep(time.Second)
		c.Reconnect()
		if closed(l.Lost()) {
			t.Fatal("lost by a short disconnection")
		}
		time.Sleep(time.Second)
		c.Disconnect()
		time.Sleep(3 * time.Second)
		if !closed(l.Lost()) {
			t.Error("not lost a third of the timeout after the disconnection")
		}
		c.Reconnect()
		mustUnlock(t, l)
	})
}

func TestWaiterSurvivesExpiry(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.Connect()), s.Connect()
		waiter := newLock(c)
		mustLock(t, holder)
		got := make(chan struct{}, 1)
		go func() { mustLock(t, waiter); got <- struct{}{} }()
		time.Sleep(time.Second)
		c.ExpireLate(testconn.Stays)
		time.Sleep(time.Second)
		mustUnlock(t, holder)
		<-got
		s.WantOwner(t, waiter.Path(), c.SessionID())
		mustUnlock(t, waiter)
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestTryLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.Connect()), s.Connect()
		l := newLock(c)
		mustLock(t, holder)
		before := len(s.Below("/locks/a"))
		if ok, err := l.TryLock(t.Context()); ok || err != nil {
			t.Fatalf("TryLock of a held lock: %v %v", ok, err)
		}
		s.WantBelow(t, "/locks/a", before)
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
		s.WantBelow(t, "/locks/a", 0)
	})
}

func TestClosedConnEndsEverything(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.Connect()), s.Connect()
		mustLock(t, holder)
		waiter := newLock(c)
		failed := make(chan error, 1)
		go func() { failed <- waiter.Lock(t.Context()) }()
		time.Sleep(time.Second)
		c.Close()
		if err := <-failed; !errors.Is(err, ErrConnClosed) {
			t.Errorf("waiting Lock: %v", err)
		}
		if err := waiter.Lock(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Lock: %v", err)
		}
		if n := c.Called("create") + c.Called("multi"); n > 20 {
			t.Errorf("%d requests on a closed connection", n)
		}
		mustUnlock(t, holder)
	})
}

func TestCloseEndsWaitingLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		holder, waiter := newLock(s.Connect()), newLock(s.Connect())
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
		s.WantBelow(t, "/locks/a", 0)
	})
}

// TestHoldIsOverWithItsSession, before any watch has fired.
func TestHoldIsOverWithItsSession(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
		c := s.Connect()
		l := newLock(c)
		c.Deafen()
		mustLock(t, l)
		lost := l.Lost()
		c.Expire()
		if closed(lost) {
			t.Fatal("the watch has told")
		}
		mustLock(t, l)
		if s.WantOwner(t, l.Path(), c.SessionID()); !closed(lost) {
			t.Error("the old hold goes on")
		}
		mustUnlock(t, l)
	})
}

// expiry ends the session of a connection, with its ephemeral nodes or without them.
func expiry(c *testConn, late bool) func() {
	if late {
		return func() { c.ExpireLate(testconn.Stays) }
	}
	return c.Expire
}
