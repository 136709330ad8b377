package hunt

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// TestCoverageStretchesNoFaultBeyondWhatPlansHave: if all that it proposes is kept and
// changed again, faults become no longer than those that are drawn, 15 s; but those that
// were longer to begin with stay.
func TestCoverageStretchesNoFaultBeyondWhatPlansHave(t *testing.T) {
	t.Parallel()
	base := calmLocks(t)
	for _, c := range []struct {
		first string // fault, that is there to begin with
		want  time.Duration
	}{
		{"stall 10s client=a request=1", 15 * time.Second},
		{"stall 70s client=a request=1", 70 * time.Second},
	} {
		first, err := fault.Parse(c.first)
		check.OK(t, err)
		coverage := newCoverage(strategyInput{base: base, seed: 1, maxFaults: 4})
		s := base.Scenario
		s.Plan = []fault.Fault{first}
		longest := time.Duration(0)
		for range 5000 {
			o := *base
			o.Scenario = s
			coverage.learn(&o, true, 1)
			s, _ = coverage.propose()
			longest = max(longest, longestOf(s.Plan))
		}
		if longest != c.want {
			t.Errorf("from %s: a fault of %v; want %v at most, and that it gets there", c.first,
				longest, c.want)
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
