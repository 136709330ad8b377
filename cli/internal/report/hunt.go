package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// Hunt is the result of a hunt, for programs.
type Hunt struct {
	Shard
	Workload       string `json:"workload"`
	Implementation string `json:"implementation"`
	Runs           int    `json:"runs"`
	// Replayed is the number of scenarios of the corpus that were played, and Kept the number of
	// files added to the corpus.
	Replayed    int    `json:"replayed"`
	Kept        *int   `json:"kept,omitempty"`
	Traces      int    `json:"traces"`
	Behaviours  int    `json:"behaviours"`
	Undecided   int    `json:"undecided"`
	Exhausted   bool   `json:"exhausted"`
	Interrupted bool   `json:"interrupted"`
	Error       string `json:"error,omitempty"` // that ended the hunt early
	// CutOff says how far a hunt got that ended before its bound was reached.
	CutOff      string         `json:"cut_off,omitempty"`
	Divergences *int           `json:"divergences,omitempty"`
	Diverging   []show.Outcome `json:"diverging,omitempty"`
	// Goals are the goals of the workload.
	Goals  []Goal      `json:"goals,omitempty"`
	Judged hunt.Judged `json:"judged"`
	// NeverCalled are the optional methods of the object that no scenario has called.
	NeverCalled []string  `json:"never_called,omitempty"`
	Findings    []Finding `json:"findings"`
	// Others are what was seen after the findings that ended the hunt, a line each.
	Others []string `json:"others,omitempty"`
}

// Goal is a goal with the number of scenarios that reached it.
type Goal struct {
	Goal    string `json:"goal"`
	Reached int    `json:"reached"`
}

// Finding is a finding for programs, with its strategy and the number of scenarios until it was
// found.
type Finding struct {
	Strategy string `json:"strategy"`
	Runs     int    `json:"runs"`
	Violation
	// Shown is how many of 20 more runs show the finding, with --unsteady.
	Shown *int `json:"shown,omitempty"`
}

// Finished reports whether nothing ended the hunt early.
func (j Hunt) Finished() bool { return !j.Interrupted && j.Error == "" }

// Bad reports whether a hunt has found a violation or a divergence, or could decide nothing.
func (j Hunt) Bad() bool {
	return len(j.Findings) > 0 || j.Divergences != nil && *j.Divergences > 0 || j.Open()
}

// Open reports whether every scenario is undecided.
func (j Hunt) Open() bool { return AllOpen(j.Undecided, j.Runs+j.Replayed) }

func AllOpen(undecided, tried int) bool { return tried > 0 && undecided == tried }

// Tried is a text with the number of scenarios, and the number from the corpus if there are any.
func Tried(runs, replayed int) string {
	if replayed == 0 {
		return command.Plural(runs, "scenario")
	}
	return fmt.Sprintf("%s after %d of the corpus", command.Plural(runs, "scenario"), replayed)
}

// Summary is one line about a hunt, with the number of its findings.
func (j Hunt) Summary(findings int) string {
	parts := []string{
		fmt.Sprintf("%s %s: %s", j.Workload, j.Implementation, Tried(j.Runs, j.Replayed)),
		command.Plural(j.Traces, "trace"), command.Plural(j.Behaviours, "behaviour"),
	}
	if findings > 0 {
		parts = append(parts, command.Plural(findings, "finding"))
	}
	if j.Kept != nil {
		parts = append(parts, fmt.Sprintf("%d kept", *j.Kept))
	}
	if j.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", j.Undecided))
	}
	text := strings.Join(parts, ", ") + command.EndText(j.Interrupted, j.Error)
	switch {
	case j.CutOff != "" && j.Finished():
		text += "; the time is up: " + j.CutOff
	case j.CutOff != "":
		text += ": " + j.CutOff
	}
	if j.Exhausted && !j.Interrupted {
		text += "; nothing is left to try"
	}
	return text
}

func (j *Hunt) merge(other mergeable) error {
	o, ok := other.(*Hunt)
	if !ok {
		return errOtherReport
	}
	if err := hunt.SameWork(o.Workload+" "+o.Implementation, j.Workload+" "+j.Implementation); err != nil {
		return err
	}
	j.take(o)
	return nil
}

// take adds the report of a hunt in the same workload.
func (j *Hunt) take(o *Hunt) {
	switch {
	case j.Runs == 0:
		j.Goals, j.NeverCalled = o.Goals, o.NeverCalled
	case o.Runs > 0:
		for i := range min(len(j.Goals), len(o.Goals)) {
			j.Goals[i].Reached += o.Goals[i].Reached
		}
		j.NeverCalled = slices.DeleteFunc(j.NeverCalled, func(method string) bool {
			return !slices.Contains(o.NeverCalled, method)
		})
	}
	j.Runs += o.Runs
	j.Replayed += o.Replayed
	j.Judged = j.Judged.Plus(o.Judged)
	j.Traces += o.Traces
	j.Behaviours += o.Behaviours
	j.Undecided += o.Undecided
	j.Exhausted = j.Exhausted || o.Exhausted
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	j.CutOff = cmp.Or(j.CutOff, o.CutOff)
	addTo(j.Kept, o.Kept)
	addTo(j.Divergences, o.Divergences)
	j.Diverging = append(j.Diverging, o.Diverging...)
	j.Findings = append(j.Findings, o.Findings...)
	j.Others = append(j.Others, o.Others...)
}

// addTo adds a number of a report that may be absent.
func addTo(sum, n *int) {
	if sum != nil && n != nil {
		*sum += *n
	}
}

// finish keeps the first finding of each bug.
func (j *Hunt) finish(scenario.Catalogue) (bad bool) {
	j.Shard = j.united()
	slices.SortStableFunc(j.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Violation), rank(b.Violation)),
			cmp.Compare(a.Runs, b.Runs))
	})
	var first []Finding
	for _, f := range j.Findings {
		if !slices.ContainsFunc(first, func(known Finding) bool { return known.Bug == f.Bug }) {
			first = append(first, f)
		}
	}
	j.Findings = append([]Finding{}, first...)
	return j.Bad()
}
