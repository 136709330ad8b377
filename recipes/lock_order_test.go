package recipes

import (
	"testing"
	"time"
)

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

func TestReleaseWakesOneWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		holder := NewLock(s.Connect(), "/l")
		mustLock(t, holder)
		var conns []*testConn
		done := make(chan int, 5)
		for i := range 5 {
			c := s.Connect()
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
			before += c.Called("children")
		}
		mustUnlock(t, holder)
		if i := <-done; i != 0 {
			t.Errorf("waiter %d came first", i)
		}
		after := 0
		for _, c := range conns {
			after += c.Called("children")
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
		s.WantBelow(t, "/l", 0)
	})
}

func TestDeadWaiterInTheMiddleGrantsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		holder := NewLock(s.Connect(), "/l")
		mustLock(t, holder)
		middle, c := s.Connect(), s.Connect()
		go func() {
			wantError(t, NewLock(middle, "/l").Lock(t.Context()), ErrConnClosed)
		}()
		time.Sleep(time.Second)
		last, got := NewLock(c, "/l"), make(chan struct{})
		go func() { mustLock(t, last); close(got) }()
		time.Sleep(time.Second)
		middle.Close()
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
			if ok, err := NewLock(s.Connect(), "/l").TryLock(t.Context()); ok || err != nil {
				t.Errorf("TryLock behind %s: %v %v", name, ok, err)
			}
		})
	}
}

func TestLockPastTheSequenceWrap(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.NumberFrom(-2)
		order := make(chan int, 4)
		for i := range 4 {
			l := NewLock(s.Connect(), "/l")
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
