package recipes

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// inBubble runs a test of one kind of recipe.
func inBubble(t *testing.T, test func(t *testing.T, s *fakeServer)) {
	synctest.Test(t, func(t *testing.T) { test(t, newFakeServer()) })
}

func TestPredecessorGoneBetweenListAndWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		holder, c := NewLock(s.connect(), "/l"), s.connect()
		mustLock(t, holder)
		c.on("getW", 1, rule{before: func() { mustUnlock(t, holder) }})
		waiter := NewLock(c, "/l", RecheckEvery(0))
		mustLock(t, waiter)
		mustUnlock(t, waiter)
	})
}

func TestReleaseWakesOneWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		holder := NewLock(s.connect(), "/l")
		mustLock(t, holder)
		var conns []*fakeConn
		done := make(chan int, 5)
		for i := range 5 {
			c := s.connect()
			conns = append(conns, c)
			l := NewLock(c, "/l", RecheckEvery(0))
			go func() {
				mustLock(t, l)
				done <- i
				time.Sleep(time.Hour)
				mustUnlock(t, l)
			}()
			time.Sleep(time.Second)
		}
		before := 0
		for _, c := range conns {
			before += c.called("children")
		}
		mustUnlock(t, holder)
		if i := <-done; i != 0 {
			t.Errorf("waiter %d came first", i)
		}
		after := 0
		for _, c := range conns {
			after += c.called("children")
		}
		if after-before != 1 {
			t.Errorf("%d waiters looked after one release", after-before)
		}
		for i := 1; i < 5; i++ {
			if got := <-done; got != i {
				t.Errorf("waiter %d came instead of %d", got, i)
			}
		}
		time.Sleep(2 * time.Hour)
		s.wantBelow(t, "/l", 0)
	})
}

func TestDeadWaiterInTheMiddleGrantsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		holder := NewLock(s.connect(), "/l")
		mustLock(t, holder)
		middle, c := s.connect(), s.connect()
		go func() {
			if err := NewLock(middle, "/l").Lock(t.Context()); !errors.Is(err, ErrConnClosed) {
				t.Errorf("Lock on a closed connection: %v", err)
			}
		}()
		time.Sleep(time.Second)
		last, got := NewLock(c, "/l"), make(chan struct{})
		go func() { mustLock(t, last); close(got) }()
		time.Sleep(time.Second)
		middle.close()
		time.Sleep(time.Second)
		if closed(got) {
			t.Fatal("acquired while held")
		}
		mustUnlock(t, holder)
		<-got
		mustUnlock(t, last)
	})
}

func TestForeignChildrenAreIgnored(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		s.seed(t, 0, "/l", "")
		for _, name := range []string{"_c_", "readme", "lock-", "lock-x", "_c_1-lock-00000000001x", "x-lock-+000000001"} {
			s.seed(t, 0, "/l/"+name, "")
		}
		l := NewLock(s.connect(), "/l")
		mustLock(t, l)
		mustUnlock(t, l)
	})
}

func TestCuratorAndKazooNodesCount(t *testing.T) {
	for _, name := range []string{
		"_c_3e1a2f6c-13c1-4a0f-9e63-0a3f3d1a9b11-lock-0000000000",
		"3e1a2f6c13c14a0f9e630a3f3d1a9b11__lock__0000000000",
	} {
		inBubble(t, func(t *testing.T, s *fakeServer) {
			s.seed(t, 0, "/l", "")
			s.seed(t, 7, "/l/"+name, "")
			if ok, err := NewLock(s.connect(), "/l").TryLock(t.Context()); ok || err != nil {
				t.Errorf("TryLock behind %s: %v %v", name, ok, err)
			}
		})
	}
}

func TestLockPastTheSequenceWrap(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		s.firstSeq = -2
		order := make(chan int, 4)
		for i := range 4 {
			l := NewLock(s.connect(), "/l")
			go func() {
				mustLock(t, l)
				order <- i
				time.Sleep(time.Minute)
				mustUnlock(t, l)
			}()
			time.Sleep(time.Second)
		}
		for i := range 4 {
			if got := <-order; got != i {
				t.Errorf("owner %d came instead of %d", got, i)
			}
			if len(order) > 0 {
				t.Error("two owners")
			}
		}
		time.Sleep(time.Hour)
	})
}

func TestParentDeletedUnderTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		c.on("children", 1, rule{before: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, name := range s.children("/l") {
				s.remove("/l/" + name)
			}
			s.remove("/l")
		}})
		l := NewLock(c, "/l")
		mustLock(t, l)
		s.wantOwner(t, l.Path(), c.SessionID())
		mustUnlock(t, l)
	})
}

func TestMissedWatchIsMadeUpFor(t *testing.T) {
	everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
		holder, c := newLock(s.connect()), s.connect()
		mustLock(t, holder)
		waiter, got := newLock(c), make(chan struct{})
		go func() { mustLock(t, waiter); close(got) }()
		time.Sleep(time.Second)
		s.mu.Lock()
		c.watches = map[string][]chan zk.Event{}
		s.mu.Unlock()
		mustUnlock(t, holder)
		<-got
		mustUnlock(t, waiter)
	})
}
