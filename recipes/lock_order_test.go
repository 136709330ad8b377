package recipes_test

import (
	. "github.com/zksim/zksim/recipes"
	"testing"
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
