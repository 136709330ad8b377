package classic

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// diary is a listener that records its notifications.
type diary struct {
	heard  []string
	within func() // called by LockAcquired, if not nil
}

func (d *diary) LockAcquired() {
	d.heard = append(d.heard, "acquired")
	if d.within != nil {
		d.within()
	}
}

func (d *diary) LockReleased() { d.heard = append(d.heard, "released") }

// fullDiary is a diary that also records refusals.
type fullDiary struct{ diary }

func (d *fullDiary) LockRefused(err error) {
	if !errors.Is(err, zk.ErrNoAuth) {
		d.heard = append(d.heard, err.Error())
	}
	d.heard = append(d.heard, "refused")
}

// wantHeard waits a moment and checks all notifications so far.
func (d *diary) wantHeard(t *testing.T, want ...string) {
	t.Helper()
	testconn.LetSettle()
	check.Equal(t, strings.Join(d.heard, " "), strings.Join(want, " "))
}

func wantLock(t *testing.T, l *WriteLock, want bool) {
	t.Helper()
	owned, err := l.Lock(t.Context())
	if owned != want || err != nil || l.IsOwner() != want || (l.Token() != 0) != want {
		t.Fatalf("Lock: %v %v, owner %v, token %d, want %v", owned, err, l.IsOwner(),
			l.Token(), want)
	}
}

// writeLocks runs a test of two locks with listeners, the second on a connection of its own.
// In the end nothing is left.
func writeLocks(
	t *testing.T,
	test func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, first, second *fullDiary,
	),
) {
	testconn.Alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var first, second fullDiary
		one, two := NewWriteLock(s.Connect(), "/wl", &first), NewWriteLock(c, "/wl", &second)
		test(t, s, c, one, two, &first, &second)
		testconn.MustClose(t, one, two)
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockDoesNotWait(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testServer, c *testConn) { // two handles on one session
		var first, second diary
		one, two := NewWriteLock(c, "/wl", &first), NewWriteLock(c, "/wl", &second)
		wantLock(t, one, true)
		wantLock(t, one, true)
		wantLock(t, two, false)
		wantLock(t, two, false)
		if one.ID() == two.ID() || !slices.Contains(s.Below("/wl"), two.ID()) ||
			one.Dir() != "/wl" {
			t.Errorf("nodes %q and %q below %s", one.ID(), two.ID(), one.Dir())
		}
		first.wantHeard(t, "acquired")
		second.wantHeard(t)
		mustDo(t, one.Unlock(t.Context()))
		first.wantHeard(t, "acquired", "released")
		second.wantHeard(t, "acquired")
		wantLock(t, two, true)
		if err := two.Close(t.Context()); err != nil || two.IsOwner() || two.ID() != "" {
			t.Fatal(err)
		}
		second.wantHeard(t, "acquired", "released")
		check.Is(t, testconn.ErrOf(two.Lock(t.Context())), recipes.ErrClosed)
	})
}

func TestWriteLockDoesNotWaitForAPredecessorThatVanishes(t *testing.T) {
	writeLocks(t, func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, _, second *fullDiary,
	) {
		wantLock(t, one, true)
		c.On("children", 1, rule{After: func() { mustDo(t, one.Unlock(t.Context())) }})
		wantLock(t, two, false)
		second.wantHeard(t, "acquired")
	})
}

func TestWaiterOfAWriteLockQueuesAnewInANewSession(t *testing.T) {
	writeLocks(t, func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, _, second *fullDiary,
	) {
		wantLock(t, one, true)
		wantLock(t, two, false)
		before := two.ID()
		c.Expire()
		time.Sleep(time.Second)
		if two.ID() == before || !slices.Contains(s.Below("/wl"), two.ID()) {
			t.Errorf("waits with %s after %s", two.ID(), before)
		}
		testconn.MustClose(t, one)
		second.wantHeard(t, "acquired")
	})
}

func TestOwnerOfAWriteLockLearnsOfTheLoss(t *testing.T) {
	writeLocks(t, func(t *testing.T, s *testServer, c *testConn, _, l *WriteLock, _, d *fullDiary) {
		wantLock(t, l, true)
		c.Expire()
		d.wantHeard(t, "acquired", "released")
		if l.IsOwner() || l.ID() != "" {
			t.Error("still the owner")
		}
		wantLock(t, l, true)
		testconn.MustClose(t, l)
		d.wantHeard(t, "acquired", "released", "acquired", "released")
	})
}

// TestListenerHearsOnlyOfWhatWasOwned, and Err is nil after a deliberate end.
func TestListenerHearsOnlyOfWhatWasOwned(t *testing.T) {
	writeLocks(t, func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, _, second *fullDiary,
	) {
		wantLock(t, one, true)
		for _, end := range []func(context.Context) error{two.Unlock, two.Unlock, two.Close} {
			wantLock(t, two, false)
			mustDo(t, errors.Join(end(t.Context()), two.Err()))
			s.WantBelow(t, "/wl", 1)
		}
		testconn.MustClose(t, one)
		second.wantHeard(t)
	})
}

// TestUnlockOfAWriteLockWithoutAHold is an error, unless it waits: then the wait ends.
func TestUnlockOfAWriteLockWithoutAHold(t *testing.T) {
	writeLocks(t, func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, _, _ *fullDiary,
	) {
		wantNotHeld := func() {
			t.Helper()
			wantFailure(t, two.Unlock(t.Context()), recipes.ErrNotHeld, recipes.NotApplied)
		}
		wantNotHeld()
		wantLock(t, two, true)
		mustDo(t, two.Unlock(t.Context()))
		wantNotHeld()
		wantLock(t, one, true)
		wantLock(t, two, false)
		c.Disconnect()
		wantFailure(t, two.Unlock(testconn.Done(t)), context.Canceled, recipes.Unknown)
		c.Reconnect()
		mustDo(t, two.Unlock(t.Context()))
		s.WantBelow(t, "/wl", 1)
		wantNotHeld()
		c.On("create", 1, testconn.Refused)
		check.Is(t, testconn.ErrOf(two.Lock(t.Context())), zk.ErrNoAuth)
		wantNotHeld()
		mustDo(t, one.Unlock(t.Context()))
		wantLock(t, two, true)
		c.Expire()
		mustDo(t, two.Unlock(t.Context())) // of a hold that was lost
		wantNotHeld()
	})
}

func TestListenerMayUseTheLock(t *testing.T) {
	writeLocks(t, func(t *testing.T, s *testServer, c *testConn, _, l *WriteLock, _, d *fullDiary) {
		l.SetListener(d)
		d.within = func() { mustDo(t, l.Unlock(t.Context())) }
		if _, err := l.Lock(t.Context()); err != nil || l.Listener() != d {
			t.Fatal(err)
		}
		d.wantHeard(t, "acquired", "released")
	})
}

func TestWriteLockGivenUpBeforeItQueues(t *testing.T) {
	writeLocks(t, func(t *testing.T, s *testServer, c *testConn, _, l *WriteLock, _, d *fullDiary) {
		c.Disconnect()
		soon := testconn.Within(t, time.Second)
		check.Is(t, testconn.ErrOf(l.Lock(soon)), context.DeadlineExceeded)
		c.Reconnect()
		d.wantHeard(t)
	})
}

// TestRefusalAfterLockHasReturned: the listener is notified, since no call returns the error.
func TestRefusalAfterLockHasReturned(t *testing.T) {
	writeLocks(t, func(
		t *testing.T, s *testServer, c *testConn, one, two *WriteLock, _, second *fullDiary,
	) {
		wantLock(t, one, true)
		mustDo(t, two.Err())
		wantLock(t, two, false)
		c.On("children", 1, testconn.Refused)
		mustDo(t, one.Unlock(t.Context()))
		second.wantHeard(t, "refused")
		wantFailure(t, two.Err(), zk.ErrNoAuth, recipes.NotApplied)
		s.WantBelow(t, "/wl", 0)
		wantLock(t, two, true)
		for _, end := range []func(context.Context) error{two.Unlock, one.Close, two.Close} {
			mustDo(t, errors.Join(end(t.Context()), two.Err()))
		}
		second.wantHeard(t, "refused", "acquired", "released")
	})
}
