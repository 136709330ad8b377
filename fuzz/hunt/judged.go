package hunt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// CheckJudged returns an error if there was nothing to judge in any run of the sweep: no call of
// the kind of [scenario.Workload.Main] succeeded, the judge gave no verdict of its own, and the
// workload has no goals. Such a sweep finds nothing, however wrong the code is.
func (s *Sweep) CheckJudged() error {
	return s.seen.check(s.Base.Scenario.Workload, 1+s.Points)
}

// CheckJudged is [Sweep.CheckJudged] for the runs of a hunt.
func (f *Found) CheckJudged() error { return f.seen.check(f.workload, f.Runs) }

// basis says what there was to judge in runs.
type basis struct {
	calls     int    // recorded ones
	lastError string // of a call that failed
	judged    bool   // a call of the main kind succeeded, or the workload's own judge spoke
}

// basisOf is the basis of one run. All properties but those of a workload's own judge, such
// as an invariant, are about calls.
func basisOf(o *scenario.Outcome) basis {
	own := func(v linearizability.Verdict) bool {
		return !slices.Contains(linearizability.Properties(), v.Property)
	}
	e := basis{
		calls: len(o.History.Ops), judged: slices.ContainsFunc(o.Report.Verdicts, own),
	}
	for _, op := range o.History.Ops {
		e.lastError = cmp.Or(op.Err, e.lastError)
		main := o.Scenario.Workload.Main
		e.judged = e.judged || op.OK() && (op.Kind == main || main == "")
	}
	return e
}

// add takes in the basis of one more run.
func (e *basis) add(more basis) {
	e.calls += more.calls
	e.lastError = cmp.Or(more.lastError, e.lastError)
	e.judged = e.judged || more.judged
}

// check is CheckJudged for a number of runs.
func (e basis) check(w scenario.Workload, runs int) error {
	switch {
	case e.judged || len(w.Sometimes) > 0:
		return nil
	case e.calls == 0:
		return fmt.Errorf("no client has recorded a call in any of %d runs, "+
			"so there was nothing to judge: record calls by Player.Do or Player.Begin, "+
			"or say what must hold by an Invariant or a goal", runs)
	}
	return fmt.Errorf("no %s has succeeded in any of %d runs, so there was nothing to judge; "+
		"the last error of a call: %s", cmp.Or(w.Main, "call"), runs, cmp.Or(e.lastError, "none"))
}

// checkNetwork returns an error if the code under test used the real network in a run. No other
// scenario would say more, and each may take some time.
func checkNetwork(o *scenario.Outcome) error {
	if !o.OnNetwork() {
		return nil
	}
	return fmt.Errorf("nothing can be decided: %s", o.Summary())
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
