package fuzz_test

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

// TestCoverageStretchesNoFaultBeyondWhatPlansHave: if all that it proposes is kept and
// changed again, faults become no longer than those that are drawn, 15 s; but those that
// were longer to begin with stay.
func TestCoverageStretchesNoFaultBeyondWhatPlansHave(t *testing.T) {
	t.Parallel()
	base := run(t, scenario.Scenario{Workload: builtin(t, "lock", ""), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1})
	for _, c := range []struct {
		plan []string // that is there to begin with
		want time.Duration
	}{
		{[]string{"stall 10s client=a request=1"}, 15 * time.Second},
		{[]string{"stall 70s client=a request=1"}, 70 * time.Second},
	} {
		infos, err := hunt.FindStrategies([]string{"coverage"})
		if err != nil {
			t.Fatal(err)
		}
		coverage := infos[0].New(hunt.Terrain{Base: base, Seed: 1, MaxFaults: 4})
		s := base.Scenario
		s.Plan = plan(t, c.plan...)
		longest := time.Duration(0)
		for range 5000 {
			o := *base
			o.Scenario = s
			coverage.Learn(&o, true, 1)
			s, _ = coverage.Propose()
			longest = max(longest, longestOf(s.Plan))
		}
		if longest != c.want {
			t.Errorf("from %v: a fault of %v; want %v at most, and that it gets there", c.plan, longest, c.want)
		}
	}
}

func longestOf(plan []fault.Fault) time.Duration {
	longest := time.Duration(0)
	for _, f := range plan {
		longest = max(longest, f.For)
	}
	return longest
}
