package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// handleLocker has the common methods of the locks.
type handleLocker interface {
	locker
	closer
	TryLock(ctx context.Context) (bool, error)
	Lost() <-chan struct{}
	Token() int64
	Path() string
}

// lockKind is one way to own something at /locks/a.
type lockKind struct {
	name  string
	open  func(Conn, ...Option) handleLocker
	rival func(Conn, ...Option) handleLocker // excludes it; nil: open
	again error                              // of a second Lock within a second
}

// readWriteLock has the methods of the read-write locks.
type readWriteLock interface {
	fmt.Stringer
	handleLocker
	Do(ctx context.Context, work func(ctx context.Context, token int64) error) error
	RLock(ctx context.Context) error
	TryRLock(ctx context.Context) (bool, error)
	RUnlock(ctx context.Context) error
	RDo(ctx context.Context, work func(ctx context.Context, token int64) error) error
	RLost() <-chan struct{}
	RToken() int64
	RPath() string
}

// readSide is the read lock of a read-write lock.
type readSide struct{ readWriteLock }

func (r readSide) Lock(ctx context.Context) error            { return r.RLock(ctx) }
func (r readSide) Unlock(ctx context.Context) error          { return r.RUnlock(ctx) }
func (r readSide) TryLock(ctx context.Context) (bool, error) { return r.TryRLock(ctx) }
func (r readSide) Lost() <-chan struct{}                     { return r.RLost() }
func (r readSide) Token() int64                              { return r.RToken() }
func (r readSide) Path() string                              { return r.RPath() }

func (r readSide) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return r.RDo(ctx, work)
}

// onePath is a MultiLock of one path.
type onePath struct{ *MultiLock }

func (m onePath) Token() int64 { return m.MultiLock.Token("/locks/a") }
func (m onePath) Path() string { return m.NodePaths()[0] }

// oneLease is a semaphore with one lease.
type oneLease struct {
	*Semaphore
	*Lease
}

func (l *oneLease) Close(ctx context.Context) error { return l.Semaphore.Close(ctx) }

func (l *oneLease) Lock(ctx context.Context) error {
	lease, err := l.Acquire(ctx)
	if err == nil {
		l.Lease = lease
	}
	return err
}

func (l *oneLease) TryLock(ctx context.Context) (bool, error) {
	lease, ok, err := l.TryAcquire(ctx)
	if ok {
		l.Lease = lease
	}
	return ok, err
}

func (l *oneLease) Unlock(ctx context.Context) error { return l.Release(ctx) }

func (l *oneLease) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.Semaphore.Do(ctx, func(ctx context.Context, token int64) error {
		l.Lease = l.Held()[0]
		return work(ctx, token)
	})
}

func newRW(c Conn, o ...Option) handleLocker {
	return NewRWLock(c, "/locks/a", o...)
}
func newVersion(c Conn, o ...Option) handleLocker {
	return classic.NewVersionRWLock(c, "/locks/a", o...)
}

// lockKinds are all locks; the first two have only the methods of their handle.
var lockKinds = []lockKind{
	{name: "Lock", again: ErrHeld, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return NewLock(c, "/locks/a", o...)
	}},
	{name: "HerdLock", again: ErrHeld, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return classic.NewHerdLock(c, "/locks/a/node", o...)
	}},
	{name: "RevocableLock", again: ErrHeld, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return NewRevocableLock(c, "/locks/a", o...)
	}},
	{name: "TurnQueue", again: ErrHeld, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return classic.NewTurnQueue(c, "/locks/a", o...)
	}},
	{name: "MultiLock", again: ErrHeld, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return onePath{NewMultiLock(c, []string{"/locks/a"}, o...)}
	}},
	{name: "Semaphore", again: context.DeadlineExceeded, open: func(
		c Conn, o ...Option,
	) handleLocker {
		return &oneLease{Semaphore: NewSemaphore(c, "/locks/a", 1, o...)}
	}},
	{name: "ReentrantLock", open: func(c Conn, o ...Option) handleLocker {
		return NewReentrantLock(c, "/locks/a", o...)
	}},
	{name: "RWLock, writing", open: newRW},
	{name: "RWLock, reading", open: func(c Conn, o ...Option) handleLocker {
		return readSide{NewRWLock(c, "/locks/a", o...)}
	}, rival: newRW},
	{name: "VersionRWLock, writing", open: newVersion},
	{name: "VersionRWLock, reading", open: func(c Conn, o ...Option) handleLocker {
		return readSide{classic.NewVersionRWLock(c, "/locks/a", o...)}
	}, rival: newVersion},
}

// excluding opens a lock that excludes this one.
func (k lockKind) excluding(c Conn, o ...Option) handleLocker {
	if k.rival != nil {
		return k.rival(c, o...)
	}
	return k.open(c, o...)
}

// everyLock runs a test for each kind of lock in a bubble. The bubble fails if a goroutine is left
// at the end.
func everyLock(t *testing.T, test func(t *testing.T, s *testServer, k lockKind)) {
	for _, k := range lockKinds {
		t.Run(k.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) { test(t, s, k) })
		})
	}
}

// everyHeld is everyLock with a lock that is held.
func everyHeld(
	t *testing.T,
	test func(t *testing.T, s *testServer, c *testConn, k lockKind, l handleLocker),
) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		l := k.open(c)
		mustLock(t, l)
		test(t, s, c, k, l)
	})
}

// everyWaiter is everyLock with a lock that is held, and another handle on a connection of its own.
func everyWaiter(
	t *testing.T,
	test func(t *testing.T, s *testServer, c *testConn, holder, waiter handleLocker),
) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		holder, waiter := k.excluding(s.Connect()), k.open(c)
		mustLock(t, holder)
		test(t, s, c, holder, waiter)
	})
}

// everyNested is everyLock for those that can be locked again.
func everyNested(t *testing.T, test func(t *testing.T, s *testServer, k lockKind)) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		if k.again == nil {
			test(t, s, k)
		}
	})
}

// wantOwned checks the number of ephemeral nodes at rest.
func wantOwned(t *testing.T, s *testServer, want int) {
	t.Helper()
	if got := owned(s); got != want {
		t.Errorf("%d ephemeral nodes, want %d: %v", got, want, s.Below("/locks/a"))
	}
}

func owned(s *testServer) (n int) {
	synctest.Wait()
	for _, node := range s.Tree() {
		if node.Owner != 0 {
			n++
		}
	}
	return n
}

func mustLock(t *testing.T, l locker) {
	t.Helper()
	mustDo(t, l.Lock(t.Context()))
}

func mustUnlock(t *testing.T, l locker) {
	t.Helper()
	mustDo(t, l.Unlock(t.Context()))
}

func wantTry(t *testing.T, l interface {
	TryLock(ctx context.Context) (bool, error)
}, want bool) {
	t.Helper()
	if held, err := l.TryLock(t.Context()); held != want || err != nil {
		t.Fatalf("TryLock: %v %v, want %v", held, err, want)
	}
}

// crowd runs the locks in parallel, each for five holds of a second, of which most may overlap.
func crowd(t *testing.T, locks ...locker) {
	owners, finished := 0, make(chan struct{}, len(locks))
	for _, l := range locks {
		go func() {
			defer func() { finished <- struct{}{} }()
			for range 5 {
				mustLock(t, l)
				if owners++; owners != 1 {
					t.Errorf("%d owners", owners)
				}
				time.Sleep(time.Second)
				owners--
				mustUnlock(t, l)
			}
		}()
	}
	for range locks {
		<-finished
	}
}

// growing is a lock with tokens that must grow from hold to hold.
type growing struct {
	*testing.T
	handleLocker
	last *int64
}

func (g growing) Lock(ctx context.Context) error {
	err := g.handleLocker.Lock(ctx)
	if token := g.Token(); token <= *g.last {
		g.Errorf("token %d after %d", token, *g.last)
	}
	*g.last = g.Token()
	return err
}

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
