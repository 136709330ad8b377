package recipes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestLockExcludesAlsoOnOneConn(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		one, last := s.Connect(), int64(0)
		crowd(t, growing{t, k.open(one), &last}, growing{t, k.excluding(one), &last},
			growing{t, k.excluding(s.Connect()), &last})
		wantOwned(t, s, 0)
	})
}

func TestCancelledWaitLeavesNothing(t *testing.T) {
	everyWaiter(t, func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker) {
		before := owned(s)
		c.On("delete", 1, loseReply)
		check.Is(t, waiter.Lock(within(t, 3*time.Second)), context.DeadlineExceeded)
		wantOwned(t, s, before)
		mustUnlock(t, holder)
		mustLock(t, waiter)
		mustUnlock(t, waiter)
		wantOwned(t, s, 0)
	})
}

func TestCancelWhileDisconnectedReturnsAndCleansUpLater(t *testing.T) {
	everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
		mustUnlock(t, l)
		for _, op := range []string{"create", "multi"} {
			c.On(op, 1, rule{Fault: fault.DropReply, After: c.Disconnect})
		}
		began := time.Now()
		check.Is(t, l.Lock(within(t, time.Second)), context.DeadlineExceeded)
		if took := time.Since(began); took > time.Second+2*grace {
			t.Errorf("Lock returned after %v", took)
		}
		c.Reconnect()
		mustClose(t, l)
		wantOwned(t, s, 0)
		check.Is(t, l.Lock(t.Context()), ErrClosed)
	})
}

func TestUnlockWithDoneContextDeletesInBackground(t *testing.T) {
	everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
		lost := l.Lost()
		c.Disconnect()
		wantFailure(t, l.Unlock(done(t)), context.Canceled, Unknown)
		if !closed(lost) {
			t.Error("still held after Unlock")
		}
		c.Reconnect()
		mustUnlock(t, l)
		wantOwned(t, s, 0)
	})
}

func TestLostIsClosed(t *testing.T) {
	for name, lose := range map[string]func(s *testServer, c *testConn, path string){
		"expiry":    func(_ *testServer, c *testConn, _ string) { c.Expire() },
		"late reap": func(_ *testServer, c *testConn, _ string) { c.ExpireLate(testconn.Stays) },
		"deleted":   func(s *testServer, _ *testConn, path string) { s.Delete(path) },
		"closed":    func(_ *testServer, c *testConn, _ string) { c.Close() },
	} {
		everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
			lost := l.Lost()
			if closed(lost) {
				t.Fatal("lost from the start")
			}
			lose(s, c, l.Path())
			if !closed(lost) {
				t.Errorf("not lost after %s", name)
			}
			if name == "closed" {
				return
			}
			if k.again != ErrHeld { // the others may lock without Unlock
				mustUnlock(t, l)
			}
			mustLock(t, l)
			if s.WantOwner(t, l.Path(), c.SessionID()); closed(l.Lost()) {
				t.Errorf("new hold is lost after %s", name)
			}
			mustUnlock(t, l)
			wantOwned(t, s, 0)
		})
	}
}

// TestLostByDefault: before the shortest session that servers grant by default can be over.
func TestLostByDefault(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		for _, option := range [][]Option{nil, {SessionTimeout(0)}} {
			c := s.Connect()
			l := k.open(c, option...)
			mustLock(t, l)
			c.Disconnect()
			time.Sleep(shortSessionTimeout / 3)
			if got, want := closed(l.Lost()), option == nil; got != want {
				t.Errorf("lost is %v; expected %v", got, want)
			}
			c.Reconnect()
			mustUnlock(t, l)
		}
	})
}

func TestLostByLocalClock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		l := k.open(c, SessionTimeout(9*time.Second))
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
	everyWaiter(t, func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker) {
		got := waiting(t, waiter.Lock)
		c.ExpireLate(testconn.Stays)
		time.Sleep(time.Second)
		mustUnlock(t, holder)
		wantAll(t, got)
		s.WantOwner(t, waiter.Path(), c.SessionID())
		mustUnlock(t, waiter)
		wantOwned(t, s, 0)
	})
}

func TestTryLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		holder, l := k.excluding(s.Connect()), k.open(s.Connect())
		mustLock(t, holder)
		before := owned(s)
		wantTry(t, l, false)
		wantOwned(t, s, before)
		check.Is(t, holder.Lock(within(t, time.Second)), k.again)
		if k.again == nil {
			mustUnlock(t, holder)
		}
		mustUnlock(t, holder)
		wantTry(t, l, true)
		mustClose(t, l)
		wantOwned(t, s, 0)
	})
}

func TestSecondCallOfOneHandleIsRefused(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		holder, l := k.excluding(s.Connect()), k.open(s.Connect())
		mustLock(t, holder)
		waits := waiting(t, func(context.Context) error { return l.Lock(within(t, time.Minute)) })
		want := ErrHeld
		if k.name == "Semaphore" {
			want = context.DeadlineExceeded // both wait
		}
		check.Is(t, l.Lock(within(t, time.Second)), want)
		check.Is(t, <-waits, context.DeadlineExceeded)
		mustUnlock(t, holder)
		wantOwned(t, s, 0)
	})
}

func TestClosedConnEndsEverything(t *testing.T) {
	everyWaiter(t, func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker) {
		failed := waiting(t, waiter.Lock)
		c.Close()
		check.Is(t, <-failed, ErrConnClosed)
		check.Is(t, waiter.Lock(t.Context()), ErrConnClosed)
		if n := c.Called("create") + c.Called("multi"); n > 20 {
			t.Errorf("%d requests on a closed connection", n)
		}
		mustUnlock(t, holder)
	})
}

// TestCloseOfTheConnWithoutAnEvent: a Close of the client can hang before it ends its watches; see
// the limits in the package comment. Waiters learn of it when they look again, and owners by
// the local clock.
func TestCloseOfTheConnWithoutAnEvent(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		one, two := s.Connect(), s.Connect()
		one.Deafen()
		two.Deafen()
		holder := k.excluding(one)
		mustLock(t, holder)
		failed := waiting(t, k.open(two, RecheckEvery(time.Minute)).Lock)
		two.Close()
		one.Close()
		lost, began := holder.Lost(), time.Now()
		check.Is(t, <-failed, ErrConnClosed)
		if took := time.Since(began); took > time.Minute+2*time.Second || !closed(lost) {
			t.Errorf("took %v, lost %v", took, closed(lost))
		}
	})
}

func TestCloseEndsWaitingLock(t *testing.T) {
	everyWaiter(t, func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker) {
		failed := waiting(t, waiter.Lock)
		mustClose(t, waiter)
		check.Is(t, <-failed, ErrClosed)
		mustUnlock(t, holder)
		wantOwned(t, s, 0)
	})
}

// TestHoldIsOverWithItsSession, before any watch has fired.
func TestHoldIsOverWithItsSession(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		if k.again != ErrHeld {
			return // they lock anew after Unlock only
		}
		c := s.Connect()
		l := k.open(c)
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

func TestMissedWatchIsMadeUpFor(t *testing.T) {
	everyWaiter(t, func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker) {
		c.Deafen()
		got := waiting(t, waiter.Lock)
		mustUnlock(t, holder)
		wantAll(t, got)
		mustUnlock(t, waiter)
	})
}

// TestUnlockWithoutAHold is an error, but not the repetition of an Unlock that has failed.
func TestUnlockWithoutAHold(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		if k.name == "Semaphore" {
			return // a lease is released, however often
		}
		c := s.Connect()
		l := k.open(c)
		for range 2 {
			wantFailure(t, l.Unlock(t.Context()), ErrNotHeld, NotApplied)
			mustLock(t, l)
			mustUnlock(t, l)
			check.Is(t, l.Unlock(t.Context()), ErrNotHeld)
			mustLock(t, l)
			c.Disconnect()
			check.Is(t, l.Unlock(done(t)), context.Canceled)
			c.Reconnect()
			mustUnlock(t, l)
			check.Is(t, l.Unlock(t.Context()), ErrNotHeld)
		}
		mustLock(t, l)
		c.Expire()
		mustUnlock(t, l) // of a hold that was lost
		holder := k.excluding(s.Connect())
		mustLock(t, holder)
		check.Is(t, l.Lock(within(t, time.Second)), context.DeadlineExceeded)
		check.Is(t, l.Unlock(t.Context()), ErrNotHeld)
		mustUnlock(t, holder)
		wantOwned(t, s, 0)
	})
}

// refuse makes the server refuse the request by which a lock's clean-up begins.
func refuse(c *testConn, before func()) {
	for _, op := range []string{"delete", "multi"} {
		c.On(op, 1, rule{Before: before, Lose: true, Err: zk.ErrNoAuth})
	}
}

func TestRefusedCleanUpIsReportedByThoseWhoWait(t *testing.T) {
	everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
		refuse(c, func() { time.Sleep(time.Second) })
		check.Is(t, l.Unlock(done(t)), context.Canceled)
		check.Is(t, l.Unlock(t.Context()), zk.ErrNoAuth)
		check.Is(t, l.Close(t.Context()), zk.ErrNoAuth)
	})
}

func TestCloseReportsItsOwnRefusedCleanUp(t *testing.T) {
	everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
		refuse(c, nil)
		check.Is(t, l.Close(t.Context()), zk.ErrNoAuth)
	})
}

func TestCloseReportsRefusedCleanUpOfAbandonedLock(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		if strings.HasPrefix(k.name, "VersionRWLock") {
			return // a waiter has no node
		}
		holder, c := k.excluding(s.Connect()), s.Connect()
		mustLock(t, holder)
		l := k.open(c)
		c.On("getW", 1, rule{After: func() {
			c.Off()
			refuse(c, func() { time.Sleep(time.Second) })
		}})
		c.On("multi", 1, loseRequest) // makes a herd lock doubt whether its node is there
		check.Is(t, l.Lock(within(t, time.Second)), context.DeadlineExceeded)
		check.Is(t, l.Close(t.Context()), zk.ErrNoAuth)
		mustUnlock(t, holder)
	})
}

func TestCloseOfLockOnClosedConnIsClean(t *testing.T) {
	everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
		c.Close()
		check.Is(t, l.Unlock(t.Context()), ErrConnClosed)
		mustClose(t, l)
	})
}

// TestServerThatResetsAtOnceIsNotTakenForClosed: a server that authenticates and then resets at
// once answers like a closed Conn, but the client's state differs.
func TestServerThatResetsAtOnceIsNotTakenForClosed(t *testing.T) {
	off := zk.StateDisconnected
	for _, seen := range [][]zk.State{
		{zk.StateHasSession},
		{zk.StateConnecting},
		{zk.StateConnecting, off},
		{off, zk.StateConnecting},
		{off, off, off, off, off, off, off, zk.StateConnecting},
	} {
		everyHeld(t, func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker) {
			c.Cut(30, seen...)
			mustUnlock(t, l)
			wantOwned(t, s, 0)
		})
	}
}

func TestFlappingConnectionIsNotTakenForClosed(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		for i := range 30 {
			c.On("create", i+1, loseRequest)
		}
		l := NewLock(c, "/l")
		mustLock(t, l)
		mustUnlock(t, l)
	})
}

func TestPredecessorGoneBetweenListAndWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		holder, c := NewLock(s.Connect(), "/l"), s.Connect()
		mustLock(t, holder)
		c.On("getW", 1, rule{Before: func() { mustUnlock(t, holder) }})
		waiter := NewLock(c, "/l", RecheckEvery(0))
		mustLock(t, waiter)
		mustUnlock(t, waiter)
	})
}

func TestForeignChildrenAreIgnored(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/l", "")
		for _, name := range []string{
			"_c_", "readme", "lock-", "lock-x", "_c_1-lock-00000000001x", "x-lock-+000000001",
		} {
			s.Seed("/l/"+name, "")
		}
		l := NewLock(s.Connect(), "/l")
		mustLock(t, l)
		mustUnlock(t, l)
	})
}

func TestCuratorAndKazooNodesCount(t *testing.T) {
	for _, name := range []string{
		"_c_3e1a2f6c-13c1-4a0f-9e63-0a3f3d1a9b11-lock-0000000000",
		"3e1a2f6c13c14a0f9e630a3f3d1a9b11__lock__0000000000",
	} {
		inBubble(t, func(t *testing.T, s *testServer) {
			s.Seed("/l", "")
			s.Connect().Seed("/l/"+name, "")
			wantTry(t, NewLock(s.Connect(), "/l"), false)
		})
	}
}

func TestParentDeletedUnderTheLock(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("children", 1, rule{Before: func() {
			s.Delete("/l")
		}})
		l := NewLock(c, "/l")
		mustLock(t, l)
		s.WantOwner(t, l.Path(), c.SessionID())
		mustUnlock(t, l)
	})
}
