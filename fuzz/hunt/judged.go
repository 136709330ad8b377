package hunt

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// CheckJudged returns an error if there was nothing to judge in any run of the sweep: no client
// recorded a call, the judge gave no verdict of its own, and the workload has no goals. Such a
// sweep finds nothing, however wrong the code is.
func (s *Sweep) CheckJudged() error {
	return checkJudged(s.judged, s.Base.Scenario.Workload, 1+s.Points)
}

// CheckJudged is [Sweep.CheckJudged] for the runs of a hunt.
func (f *Found) CheckJudged() error { return checkJudged(f.judged, f.workload, f.Runs) }

func checkJudged(judged bool, w scenario.Workload, runs int) error {
	if judged || len(w.Sometimes) > 0 {
		return nil
	}
	return fmt.Errorf("no client has recorded a call in any of %d runs, "+
		"so there was nothing to judge: record calls by Player.Do or Player.Begin, "+
		"or say what must hold by an Invariant or a goal", runs)
}

// checkNetwork returns an error if the code under test used the real network in a run. No other
// scenario would say more, and each may take some time.
func checkNetwork(o *scenario.Outcome) error {
	if !o.OnNetwork() {
		return nil
	}
	return fmt.Errorf("nothing can be decided: %s", o.Summary())
}

// judged reports whether there was something to judge in a run: a call, or a property of the
// workload's own judge, such as an invariant. All other properties are about calls.
func judged(o *scenario.Outcome) bool {
	own := func(v linearizability.Verdict) bool {
		return !slices.Contains(linearizability.Properties(), v.Property)
	}
	return len(o.History.Ops) > 0 || slices.ContainsFunc(o.Report.Verdicts, own)
}

// NeverCalled lists the optional methods of the object that no scenario has called, sorted.
func (f *Found) NeverCalled() []string {
	var list []string
	for method, scenarios := range f.Optional {
		if scenarios == 0 {
			list = append(list, method)
		}
	}
	slices.Sort(list)
	return list
}
