package report

import (
	"cmp"
	"errors"
	"time"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Proof is a proof for programs.
type Proof struct {
	Shard
	Workload       string `json:"workload"`
	Implementation string `json:"implementation"`
	Clients        int    `json:"clients"`
	Rounds         int    `json:"rounds"`
	Servers        int    `json:"servers"`
	Goroutines     int    `json:"goroutines"` // of each client
	Careless       bool   `json:"careless"`
	Faults         int    `json:"faults"`
	// Lasting are the lengths of faults that last.
	Lasting []string `json:"lasting,omitempty"`
	Seed    uint64   `json:"seed"`
	// Holds says that all runs were tried, and none violates anything.
	Holds     bool    `json:"holds"`
	Complete  bool    `json:"complete"`
	Sentence  string  `json:"sentence"`
	Runs      int     `json:"runs"`
	Estimate  float64 `json:"estimate"`
	Classes   int     `json:"classes"`
	Redundant int     `json:"redundant"`
	// Views are not known of a shard: several have the same.
	Views     int `json:"views,omitempty"`
	Undecided int `json:"undecided"`
	// Scope is absent for a shard that has nothing to do.
	Scope *hunt.Scope `json:"scope,omitempty"`

	Interrupted bool       `json:"interrupted"`
	Error       string     `json:"error,omitempty"` // that ended it early
	Violation   *Violation `json:"violation,omitempty"`
	// Smallest says in a sentence that no run with fewer faults violates anything, if that is known
	// of the violation.
	Smallest string `json:"smallest,omitempty"`
}

func (j *Proof) merge(other mergeable) error {
	o, ok := other.(*Proof)
	if !ok {
		return errOtherReport
	}
	if err := hunt.SameWork(o.Workload+" "+o.Implementation, j.Workload+" "+j.Implementation); err != nil {
		return err
	}
	switch {
	case o.Scope == nil, j.Scope == nil && j.Violation != nil:
	case j.Scope == nil:
		j.Scope = o.Scope
	case j.Violation == nil && o.Violation == nil && !j.Scope.Alike(o.Scope):
		return errors.New("it has tried other things than the first report; expected the same " +
			"numbers of children to be hidden, and one process to prove all if they are not")
	default:
		j.Scope.Judged = j.Scope.Judged.Plus(o.Scope.Judged)
	}
	j.Runs += o.Runs
	j.Estimate += o.Estimate
	j.Classes += o.Classes
	j.Redundant += o.Redundant
	j.Undecided += o.Undecided
	j.Complete = j.Complete && o.Complete
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	if o.hasFewer(j) {
		j.Violation, j.Smallest, j.Sentence, j.Scope = o.Violation, o.Smallest, o.Sentence, o.Scope
	}
	return nil
}

// hasFewer reports whether a report has a violation, and another one has none with as few faults.
func (j *Proof) hasFewer(than *Proof) bool {
	return j.Violation != nil && (than.Violation == nil ||
		len(j.Violation.Minimal.Plan) < len(than.Violation.Minimal.Plan))
}

// script is the script as far as the sentence tells it.
func (j *Proof) script() scenario.Script {
	return scenario.Script{Clients: j.Clients, Rounds: j.Rounds, Servers: j.Servers,
		Goroutines: j.Goroutines, Careless: j.Careless}
}

// finish says what the shards say together.
func (j *Proof) finish(scenario.Catalogue) (bad bool) {
	j.Complete = j.Complete && len(j.Missing) == 0
	j.Shard = j.united()
	if j.Violation != nil {
		j.Holds = false
		return true
	}
	if j.Scope != nil {
		j.Scope.Finished = j.Complete
	}
	// The sentence does not name the lengths of faults.
	bounds := hunt.Bounds{Faults: j.Faults, Lasting: make([]time.Duration, len(j.Lasting))}
	p := hunt.Proof{Scenario: scenario.Scenario{Script: j.script()}, Bounds: bounds,
		Runs: j.Runs, Classes: j.Classes, Undecided: j.Undecided, Complete: j.Complete,
		Estimate: j.Estimate}
	j.Holds, j.Sentence = p.Holds(), p.String()
	return !j.Holds
}
