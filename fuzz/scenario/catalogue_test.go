package scenario_test

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
)

// TestNamesAreWords: a name is one word in lines of output and in flags.
func TestNamesAreWords(t *testing.T) {
	named := func(kind, impl string) error {
		_, err := scenario.Catalogue{}.With(scenario.Workload{
			Name: kind, Impl: impl, Judge: scenario.Invariants(),
			Play: func(*scenario.Player, scenario.Script) {},
		})
		return err
	}
	for _, name := range []string{
		"my lock", "lock\n", "\tlock", "lo\x1b[31mck", "lock\u00a0two", "lock\u2028", "\xff",
	} {
		for _, err := range []error{named(name, "mine"), named("lock", name)} {
			if err == nil || !strings.Contains(
				err.Error(), "must have no spaces and no control characters",
			) {
				t.Errorf("%q: %v; want an error", name, err)
			}
		}
	}
	for _, name := range []string{"mylock", "my-lock/v1.0_β#1", "'quoted'"} {
		if err := named("tally", name); err != nil {
			t.Error(err)
		}
	}
}
