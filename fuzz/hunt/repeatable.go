package hunt

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// moreRuns is the number of times that a finding is run again before it is reported. With one more
// run, a violation of one run in ten would pass for steady one time in ten.
const moreRuns = 3

// Steady runs the scenario three more times and reports whether each run has the same outcome. If
// one has not, differing is its outcome, nil if the scenario cannot be run any more. A finding that
// is not steady is of no use. Code that shares state between runs, or uses math/rand or map order,
// causes such findings. A run whose code spins, or is in a deadlock, counts as steady and is not
// repeated: each run would take as long as the World waits, and leave more behind. So does a run on
// a running ensemble, of which no two are alike.
func Steady(o *scenario.Outcome) (steady bool, differing *scenario.Outcome) {
	if o.Result.Spins || o.Result.Frozen != "" || o.Scenario.On != nil {
		return true, nil
	}
	for range moreRuns {
		again, err := saved.Play(o.Scenario)
		if err != nil || o.Difference(again) != "" {
			return false, again
		}
	}
	return true, nil
}

// Shows runs a violating scenario 20 more times. It returns how many of the runs violate the same
// property, and the number of runs.
func Shows(o *scenario.Outcome) (times, runs int) {
	for range moreTries {
		if again, err := saved.Play(o.Scenario); err == nil && again.Property() == o.Property() {
			times++
		}
	}
	return times, moreTries
}

const moreTries = 20

// Diverges says that two runs differ, and asks for the usual causes. verb is the command of zksim
// go that plays such code, test or run.
func Diverges(verb string) string { return diverges(verb, sim.Overlaid) }

func diverges(verb string, overlaid bool) string {
	if overlaid {
		return "two runs of one seed differ; does the code share state between runs, such as a " +
			"variable of a package, a cache or a sync.Pool?"
	}
	return "two runs of one seed differ; does the code share state between runs, or use math/rand, " +
		"map order, a select with several ready cases, or goroutines that send equal requests at " +
		"one instant? zksim go " + verb + " makes all but the first equal"
}

// Divergence is a scenario with two runs that differ.
type Divergence struct {
	Scenario scenario.Scenario
	// Difference is that of [scenario.Outcome.Difference].
	Difference string
	// First and Second are the outcomes of the two runs. Only the first five divergences of a hunt
	// have them, as an outcome holds the trace of its run.
	First, Second *scenario.Outcome
}

// DivergenceOf is the divergence of two outcomes of a scenario. The second is nil if the scenario
// could not be run again.
func DivergenceOf(first, second *scenario.Outcome) Divergence {
	if second == nil {
		return Divergence{Scenario: first.Scenario, Difference: "only one run can be judged"}
	}
	return Divergence{first.Scenario, first.Difference(second), first, second}
}

// SaveTraces writes the traces of the two runs to files of a directory, which it makes. The names
// of the files begin with prefix. It writes none if the traces are unknown or equal.
func (d Divergence) SaveTraces(dir, prefix string) (names []string, err error) {
	if d.First == nil {
		return nil, nil
	}
	first, second := d.First.Result.Trace.String(), d.Second.Result.Trace.String()
	if first == second {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	prefix += "differs-" + d.First.Result.Trace.Hash()[:8]
	for i, text := range []string{first, second} {
		name := filepath.Join(dir, fmt.Sprintf("%s-%d.trace", prefix, i+1))
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// String describes the divergence: the scenario, the first difference, and the place in the code
// that sent the first request that differs, if it is found.
func (d Divergence) String() string {
	s := d.Scenario
	text := fmt.Sprintf("two runs differ: %s, plan %v\n%s", s, s.Plan, d.Difference)
	if d.First == nil {
		return text
	}
	if sender := d.First.Sender(d.Second); sender != "" {
		text += "\n" + sender
	}
	return text
}
