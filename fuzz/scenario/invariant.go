package scenario

import (
	"github.com/zksim/zksim/linearizability"
)

// InvariantProperty is the property that a broken [Invariant] violates.
const InvariantProperty = "invariant"

// An Invariant is what must hold of every run of code of your own.
type Invariant struct {
	// Name is what the invariant says.
	Name string
	// Holds returns an error that tells how the run breaks it. Evidence.Rest is nil if
	// the run was cut short.
	Holds func(Evidence) error
}

// Invariants is the Judge of a [Workload] that has no model: each of the
// invariants must hold, and every call must return once the faults have stopped. That
// every script must come to its end then is asked of any workload.
func Invariants(list ...Invariant) func(Evidence) (linearizability.Report, error) {
	return func(e Evidence) (linearizability.Report, error) {
		r := linearizability.Judge(e.History, e.Rest, linearizability.Anything{})
		var verdicts []linearizability.Verdict
		for _, inv := range list {
			v := linearizability.Verdict{Property: InvariantProperty, Status: linearizability.OK,
				Summary: inv.Name}
			if err := inv.Holds(e); err != nil {
				v.Status, v.Summary = linearizability.Violated, inv.Name+": "+err.Error()
			}
			verdicts = append(verdicts, v)
		}
		r.Verdicts = append(verdicts, r.Verdicts...)
		return r, nil
	}
}
