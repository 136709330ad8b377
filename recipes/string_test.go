package recipes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

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
