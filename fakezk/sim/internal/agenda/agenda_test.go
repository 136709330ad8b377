package agenda

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// TestFirstComesBeforeAllThatIsPlanned, and the others keep their order, each at its own instant.
func TestFirstComesBeforeAllThatIsPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Agenda
		a.Begin()
		var names []string
		var times []time.Duration
		event := func(name string) func() { return func() { names = append(names, name) } }
		for name, at := range map[string]time.Duration{"c": 0, "d": 1, "e": 4, "f": 9} {
			a.Schedule(at, event(name))
		}
		a.ScheduleFirst([]func(){event("a"), event("b")})
		for a.Next() != Never {
			times = append(times, a.Next())
			a.Apply()
		}
		check.List(t, names, []string{"a", "b", "c", "d", "e", "f"}, "order")
		check.List(t, times, []time.Duration{0, 1, 2, 3, 4, 9}, "times")
	})
}
