package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// fuzzJSON is the result of a hunt, for programs.
type fuzzJSON struct {
	// Shard is the part of the work, "" for all of it or in a list of hunts.
	Shard          string `json:"shard,omitempty"`
	Work           string `json:"work,omitempty"` // of all shards
	Workload       string `json:"workload"`
	Implementation string `json:"implementation"`
	Runs           int    `json:"runs"`
	// Replayed is the number of scenarios of the corpus that were played, and Kept the number of
	// files added to the corpus.
	Replayed    int            `json:"replayed"`
	Kept        *int           `json:"kept,omitempty"`
	Traces      int            `json:"traces"`
	Behaviours  int            `json:"behaviours"`
	Undecided   int            `json:"undecided"`
	Exhausted   bool           `json:"exhausted"`
	Interrupted bool           `json:"interrupted"`
	Error       string         `json:"error,omitempty"` // that ended the hunt early
	Divergences *int           `json:"divergences,omitempty"`
	Diverging   []show.Outcome `json:"diverging,omitempty"`
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

// findingJSON is a finding for programs, with its strategy and the number of scenarios until it was
// found.
type findingJSON struct {
	Strategy string `json:"strategy"`
	Runs     int    `json:"runs"`
	foundJSON
	// Shown is how many of 20 more runs show the finding, with --unsteady.
	Shown *int `json:"shown,omitempty"`
}

// finished reports whether nothing ended the hunt early.
func (j fuzzJSON) finished() bool { return !j.Interrupted && j.Error == "" }

// bad reports whether a hunt has found a violation or a divergence, or could decide nothing.
func (j fuzzJSON) bad() bool {
	return len(j.Findings) > 0 || j.Divergences != nil && *j.Divergences > 0 || j.open()
}

// open reports whether every scenario is undecided.
func (j fuzzJSON) open() bool { return allOpen(j.Undecided, j.Runs+j.Replayed) }

func allOpen(undecided, tried int) bool { return tried > 0 && undecided == tried }

// printUndecided prints why the first undecided scenario of a search is undecided, and whether all
// of them are.
func (a *app) printUndecided(first *scenario.Outcome, all bool) {
	if first != nil {
		a.Printf("undecided, for instance: plan %v: %s\n", first.Scenario.Plan, first.Summary())
	}
	if all {
		a.Printf("every scenario is undecided, so this shows nothing\n")
	}
}

// fuzzJSONOf is the result of a hunt without its findings.
func (c *fuzzCommand) fuzzJSONOf(a *app, w scenario.Workload, h hunted) fuzzJSON {
	j := fuzzJSON{
		Workload: w.Name, Implementation: w.Impl,
		Runs: h.Runs, Replayed: h.Replayed, Traces: h.Traces, Behaviours: h.Behaviours,
		Undecided: h.Undecided, Exhausted: h.Exhausted, Findings: []findingJSON{},
	}
	j.Interrupted, j.Error = a.EndedBy(h.ended)
	if c.Corpus != "" {
		j.Kept = &h.kept
	}
	for _, goal := range w.Sometimes {
		j.Goals = append(j.Goals, goalJSON{goal, h.Reached[goal]})
	}
	j.NeverCalled = h.NeverCalled()
	return j
}

// report makes the findings of a hunt small, saves them, and prints the result unless JSON is asked
// for.
func (c *fuzzCommand) report(a *app, s scenario.Scenario, h hunted) (fuzzJSON, error) {
	j := c.fuzzJSONOf(a, s.Workload, h)
	var small []*smallFinding
	var err error
	if c.Unsteady {
		small = asFound(a, h.Findings)
	} else if small, err = makeSmall(a, h.Findings); err != nil {
		return j, err
	}
	j.Interrupted = j.Interrupted || a.Context.Err() != nil
	if !c.JSON {
		a.Printf("%s\n", summary(j, len(small)))
		a.printUndecided(h.FirstUndecided, j.open())
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
		a.Printf(
			"\nthe corpus has what ended this hunt: to go on, raise --findings above %d\n",
			c.Findings,
		)
	}
	return j, c.reportDivergences(a, h.Found, &j)
}

// knewAll reports whether the violations of the corpus alone ended a hunt. The same command would
// end there again.
func (c *fuzzCommand) knewAll(h hunted) bool {
	return h.ended == nil && len(h.Findings) >= c.Findings &&
		!slices.ContainsFunc(h.Findings, func(f hunt.Finding) bool {
			return f.Strategy != "corpus"
		})
}

// telling is the number of scenarios from which on a goal that none has reached is worth a warning:
// one generation of a hunt. The first few scenarios reach only some goals of good tests.
const telling = 32

// reportGoals prints the goals of a workload. A goal that was never reached shows that the hunt
// does not test as much as it seems, unless it has played few scenarios of many.
func reportGoals(a *app, j fuzzJSON) {
	tried := j.Runs + j.Replayed
	never := func(verb string) string {
		if tried < telling && !j.Exhausted {
			return "not " + verb + " in " + command.Plural(tried, "scenario")
		}
		return "NEVER " + strings.ToUpper(verb)
	}
	for _, g := range j.Goals {
		if g.Reached == 0 {
			a.Printf("  the goal %q was %s\n", g.Goal, never("reached"))
			continue
		}
		a.Printf("  the goal %q was reached in %s\n", g.Goal, command.Plural(g.Reached, "scenario"))
	}
	for _, method := range j.NeverCalled {
		a.Printf("  the optional method %s was %s\n", method, never("called"))
	}
}

// smallFinding is a finding made small.
type smallFinding struct {
	hunt.Finding
	unfinished bool             // an interrupt came before it was as small as possible
	unsteady   *hunt.Divergence // nil if all runs have the same outcome
	// With --unsteady: the number of more runs that show it, and of all more runs.
	shown, runs int
}

// asFound returns the findings with --unsteady as they are: a search for the smallest scenario
// needs runs that are the same.
func asFound(a *app, findings []hunt.Finding) []*smallFinding {
	var found []*smallFinding
	for i, f := range findings {
		a.Progress.Phase("running finding %d of %d again", i+1, len(findings))
		again := &smallFinding{Finding: f}
		again.shown, again.runs = hunt.Shows(f.Outcome)
		found = append(found, again)
	}
	return found
}

// makeSmall makes findings small.
func makeSmall(a *app, findings []hunt.Finding) ([]*smallFinding, error) {
	var small []*smallFinding
	for i, f := range findings {
		a.Progress.Phase("making finding %d of %d small", i+1, len(findings))
		o, err := hunt.Minimize(a.Context, f.Outcome)
		if err != nil {
			return nil, err
		}
		f.Outcome = o
		small = append(small,
			&smallFinding{Finding: f, unfinished: a.Context.Err() != nil, unsteady: unsteadiness(o)})
	}
	return small, nil
}

// unsteadiness is nil if some more runs of a finding have the same outcome.
func unsteadiness(o *scenario.Outcome) *hunt.Divergence {
	steady, differing := hunt.Steady(o)
	if steady {
		return nil
	}
	d := hunt.DivergenceOf(o, differing)
	return &d
}

// tried is a text with the number of scenarios, and the number from the corpus if there are any.
func tried(runs, replayed int) string {
	if replayed == 0 {
		return command.Plural(runs, "scenario")
	}
	return fmt.Sprintf("%s after %d of the corpus", command.Plural(runs, "scenario"), replayed)
}

// summary is one line about a hunt, with the number of its findings.
func summary(j fuzzJSON, findings int) string {
	parts := []string{
		fmt.Sprintf("%s %s: %s", j.Workload, j.Implementation, tried(j.Runs, j.Replayed)),
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
	if j.Exhausted && !j.Interrupted {
		text += "; nothing is left to try"
	}
	return text
}

// show prints a finding unless JSON is asked for, and saves it.
func (c *fuzzCommand) show(a *app, f *smallFinding) (findingJSON, error) {
	found := findingJSON{Strategy: f.Strategy, Runs: f.Runs, foundJSON: foundJSON{
		Property: f.Property(), Bug: f.Bug, Points: 1, Minimal: show.OutcomeOf(f.Outcome),
		Maker: f.Maker(), Unfinished: f.unfinished, Unsteady: f.unsteady != nil,
	}}
	about := whyLarge(f.unfinished)
	if c.Unsteady {
		found.Shown, found.Unsteady = &f.shown, f.shown < f.runs
		about = fmt.Sprintf(", not made small, shown by %d of %d more runs", f.shown, f.runs)
	}
	if !c.JSON {
		a.Printf("\nfound by %s, scenario %d%s:\n\n%s", f.Strategy, f.Runs, about,
			show.Story(f.Outcome))
	}
	return found, a.keepFinding(&found.foundJSON, f.Outcome, f.unsteady,
		kept{c.Save, c.HTML, c.JSON})
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
		a.Printf("%s\n", d)
		if err := a.saveBoth(d, c.Save); err != nil {
			return err
		}
	}
	if more := n - maxNamed; more > 0 {
		a.Printf("two runs differ: %s\n", command.Plural(more, "more scenario"))
	}
	return nil
}

// addDiverging adds the outcomes of scenarios with two different runs.
func (j *fuzzJSON) addDiverging(divergences []hunt.Divergence) error {
	for _, d := range divergences {
		o := d.First
		if o == nil {
			var err error
			if o, err = saved.Play(d.Scenario); err != nil {
				return err
			}
		}
		j.Diverging = append(j.Diverging, show.OutcomeOf(o))
	}
	return nil
}
