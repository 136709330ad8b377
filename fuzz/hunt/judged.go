package hunt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// CheckJudged is the guard against tests that test nothing. It returns an error if there was
// nothing to judge in any run of the sweep: no run could be played to its end, or no call of a kind
// in [scenario.Workload.Main] succeeded. If no client records calls, a verdict of the workload's
// own judge or a goal will do. Such a sweep finds nothing, however wrong the code is.
func (s *Sweep) CheckJudged() error {
	return s.seen.check(s.Base.Scenario.Workload, 1+s.Points)
}

// CheckJudged is [Sweep.CheckJudged] for the runs of a hunt.
func (f *Found) CheckJudged() error { return f.seen.check(f.workload, f.Runs) }

// basis says what there was to judge in runs.
type basis struct {
	broken    int    // runs that froze or panicked: they have no history
	why       string // one of them was broken
	calls     int    // recorded ones
	lastError string // of a call that failed
	succeeded bool   // a call of a main kind
	own       bool   // the workload's own judge spoke
}

// basisOf is the basis of one run. All properties but those of a workload's own judge, such
// as an invariant, are about calls.
func basisOf(o *scenario.Outcome) basis {
	own := func(v linearizability.Verdict) bool {
		return !slices.Contains(linearizability.Properties(), v.Property)
	}
	if o.Broke() {
		return basis{broken: 1, why: o.Summary()}
	}
	b := basis{
		calls: len(o.History.Ops), own: slices.ContainsFunc(o.Report.Verdicts, own),
	}
	main := o.Scenario.Workload.Main
	for _, op := range o.History.Ops {
		if op.Err != linearizability.ProcessDied {
			b.lastError = cmp.Or(op.Err, b.lastError)
		}
		b.succeeded = b.succeeded || op.OK() && (main == nil || slices.Contains(main, op.Kind))
	}
	return b
}

// add takes in the basis of one more run.
func (b *basis) add(more basis) {
	b.broken += more.broken
	b.why = cmp.Or(b.why, more.why)
	b.calls += more.calls
	b.lastError = cmp.Or(more.lastError, b.lastError)
	b.succeeded = b.succeeded || more.succeeded
	b.own = b.own || more.own
}

// check is CheckJudged for a number of runs.
func (b basis) check(w scenario.Workload, runs int) error {
	switch {
	case b.succeeded, b.calls == 0 && (b.own || len(w.Sometimes) > 0):
		return nil
	case b.broken > 0 && b.broken >= runs:
		return fmt.Errorf("nothing could be decided in any of %d runs: %s", runs, b.why)
	case b.calls == 0:
		return fmt.Errorf("no client has recorded a call in any of %d runs, "+
			"so there was nothing to judge: record calls by Player.Do, Call or Begin, "+
			"or say what must hold by an Invariant or a goal", runs)
	}
	return fmt.Errorf("no %s has succeeded in any of %d runs, so there was nothing to judge; "+
		"the last error of a call: %s", cmp.Or(strings.Join(w.Main, " or "), "call"), runs,
		cmp.Or(b.lastError, "none"))
}

// checkCalm returns an error if nothing can be decided in a run without faults, because the code
// under test used the real network or its clients share a connection, or because the run froze. No
// other scenario would say more, and each may take some time.
func checkCalm(o *scenario.Outcome) error {
	if !o.OnNetwork() && !o.SharesConn() &&
		(o.Result.Frozen == "" || o.Status() != linearizability.Unknown) {
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
