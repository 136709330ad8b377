package recipes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
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

// wantHeard waits a moment and checks all notifications so far.
func (d *diary) wantHeard(t *testing.T, want ...string) {
	t.Helper()
	letSettle()
	if !slices.Equal(d.heard, want) {
		t.Fatalf("heard %q, want %q", d.heard, want)
	}
}

func wantLock(t *testing.T, l *WriteLock, want bool) {
	t.Helper()
	owned, err := l.Lock(t.Context())
	if owned != want || err != nil || l.IsOwner() != want || (l.Token() != 0) != want {
		t.Fatalf("Lock: %v %v, owner %v, token %d, want %v", owned, err, l.IsOwner(),
			l.Token(), want)
	}
}

func TestWriteLockDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect() // of both: two handles on one session exclude each other
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
		wantError(t, errOf(two.Lock(t.Context())), ErrClosed)
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockDoesNotWaitForAPredecessorThatVanishes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, c := NewWriteLock(s.Connect(), "/wl", nil), s.Connect()
		wantLock(t, one, true)
		c.On("children", 1, rule{After: func() {
			mustDo(t, one.Unlock(t.Context()))
		}})
		var d diary
		two := NewWriteLock(c, "/wl", &d)
		wantLock(t, two, false)
		d.wantHeard(t, "acquired")
		mustClose(t, two)
	})
}

func TestWaiterOfAWriteLockQueuesAnewInANewSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, c := NewWriteLock(s.Connect(), "/wl", nil), s.Connect()
		var d diary
		two := NewWriteLock(c, "/wl", &d)
		wantLock(t, one, true)
		wantLock(t, two, false)
		before := two.ID()
		c.Expire()
		time.Sleep(time.Second)
		if two.ID() == before || !slices.Contains(s.Below("/wl"), two.ID()) {
			t.Errorf("waits with %s after %s", two.ID(), before)
		}
		mustClose(t, one)
		d.wantHeard(t, "acquired")
		mustClose(t, two)
		s.WantBelow(t, "/wl", 0)
	})
}

func TestOwnerOfAWriteLockLearnsOfTheLoss(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var d diary
		l := NewWriteLock(c, "/wl", &d)
		wantLock(t, l, true)
		c.Expire()
		d.wantHeard(t, "acquired", "released")
		if l.IsOwner() || l.ID() != "" {
			t.Error("still the owner")
		}
		wantLock(t, l, true)
		mustClose(t, l)
		d.wantHeard(t, "acquired", "released", "acquired", "released")
		s.WantBelow(t, "/wl", 0)
	})
}

func TestListenerHearsOnlyOfWhatWasOwned(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one := NewWriteLock(s.Connect(), "/wl", nil)
		var d diary
		two := NewWriteLock(s.Connect(), "/wl", &d)
		wantLock(t, one, true)
		wantLock(t, two, false)
		mustDo(t, two.Unlock(t.Context()))
		s.WantBelow(t, "/wl", 1)
		mustClose(t, one)
		d.wantHeard(t)
	})
}

func TestListenerMayUseTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var d diary
		l := NewWriteLock(s.Connect(), "/wl", nil)
		l.SetListener(&d)
		d.within = func() {
			mustDo(t, l.Unlock(t.Context()))
		}
		if _, err := l.Lock(t.Context()); err != nil || l.Listener() != &d {
			t.Fatal(err)
		}
		d.wantHeard(t, "acquired", "released")
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockGivenUpBeforeItQueues(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var d diary
		l := NewWriteLock(c, "/wl", &d)
		c.Disconnect()
		ctx := within(t, time.Second)
		if owned, err := l.Lock(ctx); owned || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock: %v %v", owned, err)
		}
		c.Reconnect()
		d.wantHeard(t)
		mustClose(t, l)
		s.WantBelow(t, "/wl", 0)
	})
}

// fullDiary is a diary that also records refusals.
type fullDiary struct{ diary }

func (r *fullDiary) LockRefused(err error) {
	if !errors.Is(err, zk.ErrNoAuth) {
		r.heard = append(r.heard, err.Error())
	}
	r.heard = append(r.heard, "refused")
}

// TestRefusalAfterLockHasReturned: the listener is notified, since no call returns the error.
func TestRefusalAfterLockHasReturned(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, c := NewWriteLock(s.Connect(), "/wl", nil), s.Connect()
		wantLock(t, one, true)
		var d fullDiary
		two := NewWriteLock(c, "/wl", &d)
		mustDo(t, two.Err())
		wantLock(t, two, false)
		c.On("children", 1, refusal)
		mustDo(t, one.Unlock(t.Context()))
		d.wantHeard(t, "refused")
		wantFailure(t, two.Err(), zk.ErrNoAuth, NotApplied)
		s.WantBelow(t, "/wl", 0)
		wantLock(t, two, true)
		for _, end := range []func(context.Context) error{two.Unlock, one.Close, two.Close} {
			mustDo(t, errors.Join(end(t.Context()), two.Err()))
		}
		d.wantHeard(t, "refused", "acquired", "released")
	})
}

// TestWhatIsGivenUpIsNoTrouble: Err is nil after a deliberate end.
func TestWhatIsGivenUpIsNoTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, two := NewWriteLock(s.Connect(), "/wl", nil),
			NewWriteLock(s.Connect(), "/wl", &fullDiary{})
		wantLock(t, one, true)
		for _, end := range []func(context.Context) error{two.Unlock, two.Close} {
			wantLock(t, two, false)
			mustDo(t, errors.Join(end(t.Context()), two.Err()))
		}
		mustClose(t, one)
	})
}
