package hunt

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// A Witness knows whether there was anything to judge in the runs of a workload. Where
// there was not, nothing is ever found, whatever is wrong.
type Witness struct{ something atomic.Bool }

// Watch is the workload with a judge that tells the Witness: of calls that were recorded,
// and of verdicts that are its own, as those on invariants. All others are about calls.
func (n *Witness) Watch(w scenario.Workload) scenario.Workload {
	judge := w.Judge
	if judge == nil {
		return w
	}
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		report, err := judge(e)
		own := func(v linearizability.Verdict) bool {
			return !slices.Contains(linearizability.Properties(), v.Property)
		}
		if len(e.History.Ops) > 0 || slices.ContainsFunc(report.Verdicts, own) {
			n.something.Store(true)
		}
		return report, err
	}
	return w
}

// Err is nil if there was something to judge in so many runs of the workload, or if it has
// goals, which may be all that it is about; it says else what is missing.
func (n *Witness) Err(w scenario.Workload, runs int) error {
	if n.something.Load() || len(w.Sometimes) > 0 {
		return nil
	}
	return fmt.Errorf("no client has recorded a call in any of %d runs, so there was nothing to judge: "+
		"record calls by Player.Do or Player.Begin, or say what must hold by an Invariant or a goal", runs)
}
