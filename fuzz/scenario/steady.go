package scenario

// moreRuns is how often a finding is run again before it is told. With one run, what
// strikes one time in ten would pass for steady one time in ten.
const moreRuns = 3

// Steady runs the scenario three times more and reports whether each of them violates
// the same property, and has the same trace: a finding that does not is of no use to
// anybody. Code that shares state between runs, or uses math/rand or map order, makes
// some. A run that froze is held to be steady and not repeated: that takes as long as
// the World waits for it, and leaves one more goroutine that spins.
func (o *Outcome) Steady() bool {
	if o.Result.Frozen != "" {
		return true
	}
	for range moreRuns {
		again, err := o.Scenario.Run()
		if err != nil || again.Property() != o.Property() ||
			again.Result.Trace.Hash() != o.Result.Trace.Hash() {
			return false
		}
	}
	return true
}
