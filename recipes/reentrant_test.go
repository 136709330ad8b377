package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

func TestFurtherLevelsCostNoRequest(t *testing.T) {
	everyNested(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		l := k.open(c)
		mustLock(t, l)
		before, token, lost := len(c.Calls()), l.Token(), l.Lost()
		mustLock(t, l)
		wantTry(t, l, true)
		mustUnlock(t, l)
		mustUnlock(t, l)
		if len(c.Calls()) != before || l.Token() != token || closed(lost) {
			t.Errorf("%d requests, token %d after %d, lost %v",
				len(c.Calls())-before, l.Token(), token, closed(lost))
		}
		wantOwned(t, s, 1)
		mustUnlock(t, l)
		if !closed(lost) || l.Token() != 0 || l.Path() != "" {
			t.Errorf("held after the last unlock")
		}
		mustLock(t, l)
		mustUnlock(t, l)
		mustClose(t, l)
		wantOwned(t, s, 0)
	})
}

// TestNoLevelOutlivesItsHold: lock counters that ignore sessions have this bug.
func TestNoLevelOutlivesItsHold(t *testing.T) {
	everyNested(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		l := k.open(c)
		mustLock(t, l)
		mustLock(t, l)
		first := l.Token()
		c.Expire()
		wantFailure(t, l.Lock(t.Context()), ErrLost, NotApplied)
		mustUnlock(t, l)
		check.Is(t, l.Lock(t.Context()), ErrLost)
		mustUnlock(t, l)
		mustLock(t, l)
		if l.Token() <= first || closed(l.Lost()) {
			t.Errorf("token %d after %d", l.Token(), first)
		}
		wantOwned(t, s, 1)
		mustUnlock(t, l)
		wantOwned(t, s, 0)
	})
}

func TestDoneContextGoesNoLevelDeeper(t *testing.T) {
	everyNested(t, func(t *testing.T, s *testServer, k lockKind) {
		l := k.open(s.Connect())
		mustLock(t, l)
		check.Is(t, l.Lock(done(t)), context.Canceled)
		mustUnlock(t, l)
		wantOwned(t, s, 0)
	})
}

func TestCloseGivesAllLevelsBack(t *testing.T) {
	everyNested(t, func(t *testing.T, s *testServer, k lockKind) {
		l := k.open(s.Connect())
		mustLock(t, l)
		mustLock(t, l)
		lost := l.Lost()
		mustClose(t, l)
		wantOwned(t, s, 0)
		if check.Is(t, l.Lock(t.Context()), ErrClosed); !closed(lost) {
			t.Error("not lost")
		}
	})
}

// TestRecipesAsText: locks say whether they are held, the others their path.
func TestRecipesAsText(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		l := k.open(c)
		if _, ok := l.(*oneLease); ok {
			return
		}
		check.Contains(t, fmt.Sprint(l), "/locks/a")
		check.Contains(t, fmt.Sprint(l), "not held")
		mustLock(t, l)
		check.Contains(t, fmt.Sprint(l), fmt.Sprintf("held with token %d", l.Token()))
		c.Expire()
		check.Contains(t, fmt.Sprint(l), "lost")
		mustClose(t, l)
	})
	for want, recipe := range map[string]fmt.Stringer{
		"semaphore /a":       NewSemaphore(nil, "/a", 1),
		"election /a":        NewLeaderLatch(nil, "/a", "x"),
		"queue /a":           NewQueue(nil, "/a"),
		"counter /a":         NewCounter(nil, "/a"),
		"group /a":           NewGroup(nil, "/a"),
		"persistent node /a": NewPersistentNode(nil, "/a", nil),
		"barrier /a":         NewBarrier(nil, "/a"),
	} {
		check.Equal(t, strings.TrimSpace(recipe.String()), want)
	}
}
