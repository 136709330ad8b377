package recipes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
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
	time.Sleep(time.Second)
	synctest.Wait()
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
		if err := one.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		first.wantHeard(t, "acquired", "released")
		second.wantHeard(t, "acquired")
		wantLock(t, two, true)
		if err := two.Close(t.Context()); err != nil || two.IsOwner() || two.ID() != "" {
			t.Fatal(err)
		}
		second.wantHeard(t, "acquired", "released")
		if _, err := two.Lock(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Lock after Close: %v", err)
		}
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockDoesNotWaitForItsOwnNodeAfterALostReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		l := NewWriteLock(c, "/wl", nil)
		c.On("create", 2, loseReply)
		wantLock(t, l, true)
		s.WantBelow(t, "/wl", 1)
		c.On("delete", 1, loseRequest)
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockDoesNotWaitForAPredecessorThatVanishes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, c := NewWriteLock(s.Connect(), "/wl", nil), s.Connect()
		wantLock(t, one, true)
		c.On("children", 1, rule{After: func() {
			if err := one.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}})
		var d diary
		two := NewWriteLock(c, "/wl", &d)
		wantLock(t, two, false)
		d.wantHeard(t, "acquired")
		if err := two.Close(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := one.Close(t.Context()); err != nil {
			t.Error(err)
		}
		d.wantHeard(t, "acquired")
		if err := two.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.WantBelow(t, "/wl", 0)
	})
}

func TestOwnerOfAWriteLockLearnsOfTheLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		var d diary
		l := NewWriteLock(c, "/wl", &d)
		wantLock(t, l, true)
		c.Expire()
		d.wantHeard(t, "acquired", "released")
		if l.IsOwner() || l.ID() != "" {
			t.Error("still the owner")
		}
		wantLock(t, l, true)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := two.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		s.WantBelow(t, "/wl", 1)
		if err := one.Close(t.Context()); err != nil {
			t.Error(err)
		}
		d.wantHeard(t)
	})
}

func TestListenerMayUseTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var d diary
		l := NewWriteLock(s.Connect(), "/wl", nil)
		l.SetListener(&d)
		d.within = func() {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if _, err := l.Lock(t.Context()); err != nil || l.Listener() != &d {
			t.Fatal(err)
		}
		d.wantHeard(t, "acquired", "released")
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockGivenUpBeforeItQueues(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		var d diary
		l := NewWriteLock(c, "/wl", &d)
		c.Disconnect()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if owned, err := l.Lock(ctx); owned || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock: %v %v", owned, err)
		}
		c.Reconnect()
		d.wantHeard(t)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.WantBelow(t, "/wl", 0)
	})
}

func TestWriteLockReportsRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		l := NewWriteLock(c, "/wl", nil)
		c.On("create", 1, refusal)
		if owned, err := l.Lock(t.Context()); owned || !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Lock: %v %v", owned, err)
		}
		wantLock(t, l, true)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
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
		if err := two.Err(); err != nil {
			t.Errorf("before Lock: %v", err)
		}
		wantLock(t, two, false)
		c.On("children", 1, refusal)
		if err := one.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		d.wantHeard(t, "refused")
		if err := two.Err(); !errors.Is(err, zk.ErrNoAuth) || OutcomeOf(err) != NotApplied {
			t.Errorf("Err: %v", err)
		}
		s.WantBelow(t, "/wl", 0)
		wantLock(t, two, true)
		for _, end := range []func(context.Context) error{two.Unlock, one.Close, two.Close} {
			if err := errors.Join(end(t.Context()), two.Err()); err != nil {
				t.Error(err)
			}
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
			if err := errors.Join(end(t.Context()), two.Err()); err != nil {
				t.Error(err)
			}
		}
		if err := one.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
