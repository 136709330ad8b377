package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
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

// TestAWrongKindGetsTheNearestOne: a line with all names is not read.
func TestAWrongKindGetsTheNearestOne(t *testing.T) {
	kinds := scenario.Catalogue{{Name: "lock", Impl: "zk.Lock"}, {Name: "queue", Impl: "b"}}
	for name, want := range map[string]string{
		"lok": " (did you mean lock?)", "lokc": " (did you mean lock?)", "quueu": "",
		"Lock": " (did you mean lock?)", "bolt": "", "zk.Lok": " (did you mean zk.Lock?)",
	} {
		_, err := kinds.Find(name, "")
		check.Equal(t, err.Error(), fmt.Sprintf("unknown workload %q%s; expected one of lock, queue", name,
			want))
	}
	_, err := kinds.Find("zk.Lock", "")
	check.Equal(t, err.Error(), `unknown workload "zk.Lock": it is an implementation of lock`)
}

// TestOfManyImplementationsTheNearestAreNamed: a line with all of the gallery is not read.
func TestOfManyImplementationsTheNearestAreNamed(t *testing.T) {
	var many scenario.Catalogue
	for _, impl := range strings.Fields("a.Lock b.Lock c.Lock d.Queue e.Queue f.Queue g.Queue " +
		"aLocks recipes.Lock") {
		many = append(many, scenario.Workload{Name: "lock", Impl: impl})
	}
	for _, c := range []struct {
		known scenario.Catalogue
		want  string
	}{
		{many, ` (did you mean a.Lock?); expected one of 9, such as a.Lock, aLocks, b.Lock; ` +
			`the commands list and gallery --list show the names`},
		{many[1:3], `; expected one of b.Lock, c.Lock`},
	} {
		_, err := c.known.Find("lock", "aLock")
		check.Equal(t, err.Error(), `workload lock has no implementation "aLock"`+c.want)
	}
}
