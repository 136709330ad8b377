package scenario

// moreRuns is how many more times a finding is run before it is reported. With one more run, a
// failure of one run in ten would pass for steady one time in ten.
const moreRuns = 3

// Steady runs the scenario three more times and reports whether each run violates the same property
// and has the same trace. A finding that is not steady is of no use. Code that shares state between
// runs, or uses math/rand or map order, causes such findings. A run that froze counts as steady and
// is not repeated: each run would take as long as the World waits, and leave one more goroutine
// that spins.
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
