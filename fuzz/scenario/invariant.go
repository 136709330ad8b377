package scenario

import (
	"fmt"
	"runtime/debug"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
)

// InvariantProperty is the property that a broken [Invariant] violates.
const InvariantProperty = "invariant"

// Invariant is a rule that must hold in every run.
type Invariant struct {
	// Name is the rule in a few words.
	Name string
	// Holds returns an error that describes how the run breaks the rule. Evidence.Rest is nil if
	// the run was cut short.
	Holds func(Evidence) error
}

// Invariants is the Judge of a [Workload] without a model: each invariant must hold, and every call
// must return once the faults have stopped. As in any workload, every script must end after the
// faults.
func Invariants(list ...Invariant) func(Evidence) (linearizability.Report, error) {
	return func(e Evidence) (linearizability.Report, error) {
		r := linearizability.Judge(e.History, e.Rest, custom.Anything{})
		var verdicts []linearizability.Verdict
		for _, inv := range list {
			v := linearizability.Verdict{Property: InvariantProperty, Status: linearizability.OK,
				Summary: inv.Name}
			err, panicked := inv.check(e)
			if panicked {
				return r, err
			}
			if err != nil {
				v.Status, v.Summary = linearizability.Violated, inv.Name+": "+err.Error()
			}
			verdicts = append(verdicts, v)
		}
		r.Verdicts = append(verdicts, r.Verdicts...)
		return r, nil
	}
}

// check calls Holds. A panic of it is an error that names the invariant.
func (i Invariant) check(e Evidence) (err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the invariant %q panics: %v\n%s", i.Name, p, debug.Stack())
			panicked = true
		}
	}()
	return i.Holds(e), false
}
