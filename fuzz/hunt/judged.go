package hunt

import (
	"cmp"
	"fmt"
	"maps"
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
	b := basisOf(s.Base)
	b.add(s.seen)
	return b.check(s.Base.Scenario.Workload, 1+s.Points)
}

// CheckJudged is [Sweep.CheckJudged] for the runs of a hunt.
func (f *Found) CheckJudged() error { return f.seen.check(f.workload, f.Runs) }

// Judged says how many runs of a search have a verdict on each property.
type Judged struct {
	Runs int `json:"runs"`
	// Properties has the runs with a verdict. A property of the kind of object that no run has
	// judged counts 0: nothing is known of it.
	Properties map[string]int `json:"properties"`
}

// Judged says which properties the scenarios of a hunt have judged.
func (f *Found) Judged() Judged { return f.seen.of(f.workload) }

// Judged says which properties the points of a sweep have judged that were played.
func (s *Sweep) Judged() Judged { return s.seen.of(s.Base.Scenario.Workload) }

// String says which properties each run has judged, which only some have, and which none. Each is a
// line.
func (j Judged) String() string {
	var each, some, none []string
	known := linearizability.Properties()
	place := func(property string) uint {
		return uint(slices.Index(known, property)) // the greatest one for -1
	}
	for _, property := range slices.SortedFunc(maps.Keys(j.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	}) {
		switch n := j.Properties[property]; n {
		case 0:
			none = append(none, property)
		case j.Runs:
			each = append(each, property)
		default:
			some = append(some, fmt.Sprintf("%s in %d of %d", property, n, j.Runs))
		}
	}
	var lines []string
	add := func(begin string, list []string) {
		if list != nil {
			lines = append(lines, begin+strings.Join(list, ", "))
		}
	}
	add("judged in each run: ", each)
	add("judged in some runs: ", some)
	add("judged in no run: ", none)
	return strings.Join(lines, "\n")
}

// Plus is the sum of two.
func (j Judged) Plus(more Judged) Judged {
	return Judged{Runs: j.Runs + more.Runs, Properties: sumOf(j.Properties, more.Properties)}
}

func sumOf(a, b map[string]int) map[string]int {
	sum := map[string]int{}
	maps.Copy(sum, a)
	for key, n := range b {
		sum[key] += n
	}
	return sum
}

// basis says what there was to judge in runs.
type basis struct {
	Judged    Judged         `json:"judged"`     // without properties that no run has judged
	Broken    int            `json:"broken"`     // runs that froze or panicked: they have no history
	Why       string         `json:"why"`        // one of them was broken
	Calls     int            `json:"calls"`      // recorded ones
	LastError string         `json:"last_error"` // of a call that failed
	Succeeded bool           `json:"succeeded"`  // a call of a main kind
	Own       bool           `json:"own"`        // the workload's own judge spoke
	Reached   map[string]int `json:"reached"`    // runs that have reached a goal
}

// basisOf is the basis of one run. All properties but those of a workload's own judge, such
// as an invariant, are about calls.
func basisOf(o *scenario.Outcome) basis {
	own := func(v linearizability.Verdict) bool {
		return !slices.Contains(linearizability.Properties(), v.Property)
	}
	if o.Broke() {
		return basis{Judged: Judged{Runs: 1}, Broken: 1, Why: o.Summary()}
	}
	b := basis{
		Judged: Judged{Runs: 1, Properties: map[string]int{}}, Reached: map[string]int{},
		Calls: len(o.History.Ops), Own: slices.ContainsFunc(o.Report.Verdicts, own),
	}
	for _, v := range o.Report.Verdicts {
		if v.Status != linearizability.Unknown {
			b.Judged.Properties[v.Property] = 1
		}
	}
	for _, goal := range o.Reached {
		b.Reached[goal] = 1
	}
	main := o.Scenario.Workload.Main
	for _, op := range o.History.Ops {
		if op.Err != linearizability.ProcessDied {
			b.LastError = cmp.Or(op.Err, b.LastError)
		}
		b.Succeeded = b.Succeeded || op.OK() && (main == nil || slices.Contains(main, op.Kind))
	}
	return b
}

// add takes in the basis of one more run.
func (b *basis) add(more basis) {
	b.Judged = b.Judged.Plus(more.Judged)
	b.Broken += more.Broken
	b.Why = cmp.Or(b.Why, more.Why)
	b.Calls += more.Calls
	b.LastError = cmp.Or(more.LastError, b.LastError)
	b.Succeeded = b.Succeeded || more.Succeeded
	b.Own = b.Own || more.Own
	b.Reached = sumOf(b.Reached, more.Reached)
}

// of counts the properties of a workload that no run has judged, too.
func (b basis) of(w scenario.Workload) Judged {
	all := Judged{Properties: map[string]int{}}
	for _, property := range w.Properties {
		all.Properties[property] = 0
	}
	return all.Plus(b.Judged)
}

// check is CheckJudged for a number of runs.
func (b basis) check(w scenario.Workload, runs int) error {
	switch {
	case b.Succeeded, b.Calls == 0 && (b.Own || len(w.Sometimes) > 0):
		return nil
	case b.Broken > 0 && b.Broken >= runs:
		return fmt.Errorf("nothing could be decided in any of %d runs: %s", runs, b.Why)
	case b.Calls == 0:
		return fmt.Errorf("no client has recorded a call in any of %d runs, "+
			"so there was nothing to judge: record calls by Player.Do, Call or Begin, "+
			"or say what must hold by an Invariant or a goal", runs)
	}
	return fmt.Errorf("no %s has succeeded in any of %d runs, so there was nothing to judge; "+
		"the last error of a call: %s", cmp.Or(strings.Join(w.Main, " or "), "call"), runs,
		cmp.Or(b.LastError, "none"))
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
