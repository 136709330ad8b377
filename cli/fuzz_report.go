package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

// fuzzJSON is the result of a hunt, for programs.
type fuzzJSON struct {
	Workload       string `json:"workload"`
	Implementation string `json:"implementation"`
	Runs           int    `json:"runs"`
	// Replayed is the number of scenarios of the corpus that were played, and Kept the number of
	// files added to the corpus.
	Replayed    int           `json:"replayed"`
	Kept        *int          `json:"kept,omitempty"`
	Traces      int           `json:"traces"`
	Behaviours  int           `json:"behaviours"`
	Undecided   int           `json:"undecided"`
	Exhausted   bool          `json:"exhausted"`
	Interrupted bool          `json:"interrupted"`
	Error       string        `json:"error,omitempty"` // that ended the hunt early
	Divergences *int          `json:"divergences,omitempty"`
	Diverging   []outcomeJSON `json:"diverging,omitempty"`
	// Goals are the goals of the workload.
	Goals []goalJSON `json:"goals,omitempty"`
	// NeverCalled are the optional methods of the object that no scenario has called.
	NeverCalled []string      `json:"never_called,omitempty"`
	Findings    []findingJSON `json:"findings"`
}

// goalJSON is a goal with the number of scenarios that reached it.
type goalJSON struct {
	Goal    string `json:"goal"`
	Reached int    `json:"reached"`
}

// findingJSON is a finding for programs. Again has the other findings that became the same
// scenario when they were made small.
type findingJSON struct {
	foundBy
	foundJSON
	Again []foundBy `json:"again,omitempty"`
}

// foundBy is the strategy that found a violation, and the number of scenarios until then.
type foundBy struct {
	Strategy string `json:"strategy"`
	Runs     int    `json:"runs"`
}

func (f foundBy) String() string { return fmt.Sprintf("by %s, scenario %d", f.Strategy, f.Runs) }

// finished reports whether nothing ended the hunt early.
func (j fuzzJSON) finished() bool { return !j.Interrupted && j.Error == "" }

// bad reports whether a hunt has found a violation or a divergence, or could decide nothing.
func (j fuzzJSON) bad() bool {
	return len(j.Findings) > 0 || j.Divergences != nil && *j.Divergences > 0 || j.open()
}

// open reports whether every scenario is undecided.
func (j fuzzJSON) open() bool { return allOpen(j.Undecided, j.Runs+j.Replayed) }

func allOpen(undecided, tried int) bool { return tried > 0 && undecided == tried }

// nothingDecided is printed after a search in which every scenario is undecided.
const nothingDecided = "every scenario is undecided, so this shows nothing\n"

// fuzzJSONOf is the result of a hunt without its findings.
func (c *fuzzCommand) fuzzJSONOf(a *app, w scenario.Workload, h hunted) fuzzJSON {
	j := fuzzJSON{
		Workload: w.Name, Implementation: w.Impl,
		Runs: h.Runs, Replayed: h.Replayed, Traces: h.Traces, Behaviours: h.Behaviours,
		Undecided: h.Undecided, Exhausted: h.Exhausted, Findings: []findingJSON{},
	}
	j.Interrupted, j.Error = a.why(h.ended)
	if c.Corpus != "" {
		j.Kept = &h.kept
	}
	for _, goal := range w.Sometimes {
		j.Goals = append(j.Goals, goalJSON{goal, h.Reached[goal]})
	}
	j.NeverCalled = h.NeverCalled()
	return j
}

// report makes the findings of a hunt small, saves them, and prints the result unless JSON
// is asked for.
func (c *fuzzCommand) report(a *app, s scenario.Scenario, h hunted) (fuzzJSON, error) {
	j := c.fuzzJSONOf(a, s.Workload, h)
	small, err := makeSmall(a, h.Findings)
	if err != nil {
		return j, err
	}
	j.Interrupted = j.Interrupted || a.ctx.Err() != nil
	if !c.JSON {
		a.printf("%s\n", summary(j, len(small), len(h.Findings)))
		if j.open() {
			a.printf(nothingDecided)
		}
		reportGoals(a, j)
	}
	for _, f := range small {
		shown, err := c.show(a, f)
		if err != nil {
			return j, err
		}
		j.Findings = append(j.Findings, shown)
	}
	if !c.JSON && c.knewAll(h) {
		a.printf(
			"\nthe corpus has what ended this hunt: to go on, raise --findings above %d\n",
			c.Findings,
		)
	}
	return j, c.reportDivergences(a, h.Found, &j)
}

// knewAll reports whether the violations of the corpus alone ended a hunt. The same command
// would end there again.
func (c *fuzzCommand) knewAll(h hunted) bool {
	return h.ended == nil && len(h.Findings) >= c.Findings &&
		!slices.ContainsFunc(h.Findings, func(f hunt.Finding) bool {
			return f.Strategy != "corpus"
		})
}

// reportGoals prints the goals of a workload. A goal that was never reached shows that the hunt
// does not test as much as it seems.
func reportGoals(a *app, j fuzzJSON) {
	for _, g := range j.Goals {
		if g.Reached == 0 {
			a.printf("  the goal %q was NEVER REACHED\n", g.Goal)
			continue
		}
		a.printf("  the goal %q was reached in %s\n", g.Goal, plural(g.Reached, "scenario"))
	}
	for _, method := range j.NeverCalled {
		a.printf("  the optional method %s was NEVER CALLED\n", method)
	}
}

// smallFinding is a finding made small.
type smallFinding struct {
	*scenario.Outcome
	by         []foundBy // in the order of the hunt
	unfinished bool      // an interrupt came before it was as small as possible
	unsteady   bool      // not each run of the scenario shows it
}

// makeSmall makes findings small. Findings with the same smallest scenario become one.
func makeSmall(a *app, findings []hunt.Finding) ([]*smallFinding, error) {
	var small []*smallFinding
	known := map[string]*smallFinding{}
	for i, f := range findings {
		a.progress.phase("making finding %d of %d small", i+1, len(findings))
		o, err := hunt.Minimize(a.ctx, f.Outcome)
		if err != nil {
			return nil, err
		}
		text, err := scenario.FileOf(o).Marshal()
		if err != nil {
			return nil, err
		}
		same := known[string(text)]
		if same == nil {
			same = &smallFinding{Outcome: o, unfinished: a.ctx.Err() != nil, unsteady: !o.Steady()}
			known[string(text)] = same
			small = append(small, same)
		}
		same.by = append(same.by, foundBy{f.Strategy, f.Runs})
	}
	return small, nil
}

// tried is a text with the number of scenarios, and the number from the corpus if there are any.
func tried(runs, replayed int) string {
	if replayed == 0 {
		return plural(runs, "scenario")
	}
	return fmt.Sprintf("%s after %d of the corpus", plural(runs, "scenario"), replayed)
}

// summary is one line about a hunt, with the number of findings and the number of violations behind
// them.
func summary(j fuzzJSON, findings, violations int) string {
	parts := []string{
		fmt.Sprintf("%s %s: %s", j.Workload, j.Implementation, tried(j.Runs, j.Replayed)),
		plural(j.Traces, "trace"), plural(j.Behaviours, "behaviour"),
	}
	if findings > 0 {
		parts = append(parts, plural(findings, "finding"))
	}
	if findings < violations {
		parts[len(parts)-1] += fmt.Sprintf(
			" (from %d that become the same when made small)", violations)
	}
	if j.Kept != nil {
		parts = append(parts, fmt.Sprintf("%d kept", *j.Kept))
	}
	if j.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", j.Undecided))
	}
	text := strings.Join(parts, ", ") + howEnded(j.Interrupted, j.Error)
	if j.Exhausted && !j.Interrupted {
		text += "; nothing is left to try"
	}
	return text
}

// show prints a finding unless JSON is asked for, and saves it.
func (c *fuzzCommand) show(a *app, f *smallFinding) (findingJSON, error) {
	found := findingJSON{foundBy: f.by[0], Again: f.by[1:], foundJSON: foundJSON{
		Property: f.Property(), Points: 1, Minimal: outcomeOf(f.Outcome),
		Unfinished: f.unfinished, Unsteady: f.unsteady,
	}}
	if !c.JSON {
		by := make([]string, len(f.by))
		for i, b := range f.by {
			by[i] = b.String()
		}
		a.printf("\nfound %s%s:\n\n%s", strings.Join(by, ", and "),
			whyLarge(f.unfinished), f.Story())
	}
	var err error
	found.File, err = a.keepFinding(f.Outcome, found.foundJSON, c.Save, c.JSON)
	return found, err
}

// reportDivergences prints the first scenarios with two different runs, or puts all of them into
// the JSON.
func (c *fuzzCommand) reportDivergences(a *app, found *hunt.Found, j *fuzzJSON) error {
	if !c.CheckDeterminism {
		return nil
	}
	n := len(found.Divergences)
	j.Divergences = &n
	if c.JSON {
		return j.addDiverging(found.Divergences)
	}
	for _, d := range found.Divergences[:min(n, maxNamed)] {
		a.printf("two runs differ: %s, plan %v\n%s\n", d.Scenario, d.Scenario.Plan, d.Difference)
	}
	if more := n - maxNamed; more > 0 {
		a.printf("two runs differ: %s\n", plural(more, "more scenario"))
	}
	return nil
}

// addDiverging adds the outcomes of scenarios with two different runs.
func (j *fuzzJSON) addDiverging(divergences []hunt.Divergence) error {
	for _, d := range divergences {
		o, err := d.Scenario.Run()
		if err != nil {
			return err
		}
		j.Diverging = append(j.Diverging, outcomeOf(o))
	}
	return nil
}
