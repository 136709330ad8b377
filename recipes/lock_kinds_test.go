package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
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

func (r readSide) Do(ctx context.Context, work func(ctx context.Context, token int64) error) error {
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
	{name: "Lock", again: ErrHeld, open: func(c Conn, o ...Option) handleLocker {
		return NewLock(c, "/locks/a", o...)
	}},
	{name: "HerdLock", again: ErrHeld, open: func(c Conn, o ...Option) handleLocker {
		return classic.NewHerdLock(c, "/locks/a/node", o...)
	}},
	{name: "RevocableLock", again: ErrHeld, open: func(c Conn, o ...Option) handleLocker {
		return NewRevocableLock(c, "/locks/a", o...)
	}},
	{name: "TurnQueue", again: ErrHeld, open: func(c Conn, o ...Option) handleLocker {
		return classic.NewTurnQueue(c, "/locks/a", o...)
	}},
	{name: "MultiLock", again: ErrHeld, open: func(c Conn, o ...Option) handleLocker {
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
