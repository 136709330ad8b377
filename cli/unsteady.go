package cli

import "github.com/zksim/zksim/fuzz"

// unsteady is what is said of a violated property whose scenario does not show it each time:
// nobody could see it again.
const unsteady = "%s is violated, but not each time, so it is not saved: two runs of one seed differ; " +
	"does the code share state between runs, or use math/rand or map order?"

// moreRuns is how often a finding is run again before it is told. With one run, what
// strikes one time in ten would pass for steady one time in ten.
const moreRuns = 3

// steady reports whether a scenario has the same outcome whenever it is run. One that froze
// is not run again, as whatever froze spins on.
func steady(o *fuzz.Outcome) bool {
	if o.Result.Frozen != "" {
		return true
	}
	for range moreRuns {
		again, err := o.Scenario.Run()
		if err != nil || again.Property() != o.Property() || again.Result.Trace.Hash() != o.Result.Trace.Hash() {
			return false
		}
	}
	return true
}
