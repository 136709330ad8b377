package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// printUndecided prints why the first undecided scenario of a search is undecided, and whether all
// of them are.
func printUndecided(env *command.Env, first *scenario.Outcome, all bool) {
	if first != nil {
		env.Printf("undecided, for instance: plan %v: %s\n", first.Scenario.Plan, first.Summary())
	}
	if all {
		env.Printf("every scenario is undecided, so this shows nothing\n")
	}
}

// reportOf is the result of a hunt without its findings.
func (c *fuzzCommand) reportOf(a *app, w scenario.Workload, h hunted) report.Hunt {
	j := report.Hunt{
		Workload: w.Name, Implementation: w.Impl,
		Runs: h.Runs, Replayed: h.Replayed, Traces: h.Traces, Behaviours: h.Behaviours,
		Undecided: h.Undecided, Exhausted: h.Exhausted, Findings: []report.Finding{},
	}
	j.Interrupted, j.Error = a.EndedBy(h.ended)
	if c.Shard == (hunt.Part{}) { // the bound is that of all shards
		j.CutOff = h.cutOff(c.Findings)
	}
	if c.Corpus != "" {
		j.Kept = &h.kept
	}
	for _, goal := range w.Sometimes {
		j.Goals = append(j.Goals, report.Goal{Goal: goal, Reached: h.Reached[goal]})
	}
	j.Judged, j.NeverCalled = h.Judged(), h.NeverCalled()
	for _, f := range h.Others {
		j.Others = append(j.Others, f.Line())
	}
	return j
}

// report makes the findings of a hunt small, saves them, and prints the result unless JSON is asked
// for.
func (c *fuzzCommand) report(a *app, s scenario.Scenario, h hunted) (report.Hunt, error) {
	j := c.reportOf(a, s.Workload, h)
	var small []*smallFinding
	var err error
	if c.Unsteady {
		small = asFound(a.Env, h.Findings)
	} else if small, err = makeSmall(a.Env, h.Findings); err != nil {
		return j, err
	}
	j.Interrupted = j.Interrupted || a.Context.Err() != nil
	if !c.JSON {
		a.Printf("%s\n", j.Summary(len(small)))
		printUndecided(a.Env, h.FirstUndecided, j.Open())
		reportGoals(a.Env, j)
	}
	for _, f := range small {
		shown, err := c.show(a, f)
		if err != nil {
			return j, err
		}
		j.Findings = append(j.Findings, shown)
	}
	if !c.JSON && len(j.Others) > 0 {
		a.Printf("\nalso seen, in the scenarios after that:\n  %s\n", strings.Join(j.Others, "\n  "))
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
func reportGoals(env *command.Env, j report.Hunt) {
	tried := j.Runs + j.Replayed
	never := func(verb string) string {
		if tried < telling && !j.Exhausted {
			return "not " + verb + " in " + command.Plural(tried, "scenario")
		}
		return "NEVER " + strings.ToUpper(verb)
	}
	for _, g := range j.Goals {
		if g.Reached == 0 {
			env.Printf("  the goal %q was %s\n", g.Goal, never("reached"))
			continue
		}
		env.Printf("  the goal %q was reached in %s\n", g.Goal, command.Plural(g.Reached, "scenario"))
	}
	for _, method := range j.NeverCalled {
		env.Printf("  the optional method %s was %s\n", method, never("called"))
	}
}

// smallFinding is a finding made small.
type smallFinding struct {
	hunt.Finding
	large    string           // why it may not be as small as possible; "" if it is
	unsteady *hunt.Divergence // nil if all runs have the same outcome
	// With --unsteady: the number of more runs that show it, and of all more runs.
	shown, runs int
}

// asFound returns the findings with --unsteady as they are: a search for the smallest scenario
// needs runs that are the same.
func asFound(env *command.Env, findings []hunt.Finding) []*smallFinding {
	var found []*smallFinding
	for i, f := range findings {
		env.Progress.Phase("running finding %d of %d again", i+1, len(findings))
		again := &smallFinding{Finding: f}
		again.shown, again.runs = hunt.Shows(f.Outcome)
		found = append(found, again)
	}
	return found
}

// makeSmall makes findings small. It first says on stderr what was found: that may take longer than
// the hunt, and a process that is ended meanwhile prints nothing more.
func makeSmall(env *command.Env, findings []hunt.Finding) ([]*smallFinding, error) {
	var small []*smallFinding
	for _, f := range findings {
		next := "; making it small"
		if env.On != nil {
			next = "; no two runs on the ensemble are alike, so it only loses faults that match nothing"
		}
		env.Note("found %s%s", f.Line(), next)
	}
	for i, f := range findings {
		env.Progress.Phase("making finding %d of %d small", i+1, len(findings))
		o, finished, err := hunt.Minimize(env.Context, f.Outcome)
		if err != nil {
			return nil, err
		}
		f.Outcome = o
		small = append(small,
			&smallFinding{Finding: f, large: whyLarge(env, finished), unsteady: unsteadiness(o)})
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

// show prints a finding unless JSON is asked for, and saves it.
func (c *fuzzCommand) show(a *app, f *smallFinding) (report.Finding, error) {
	found := report.Finding{Strategy: f.Strategy, Runs: f.Runs, Violation: report.Violation{
		Property: f.Property(), Bug: f.Bug, Points: 1, Minimal: show.OutcomeOf(f.Outcome),
		Maker: f.Maker(), Unfinished: f.large != "", Unsteady: f.unsteady != nil,
	}}
	about := f.large
	if c.Unsteady {
		found.Shown, found.Unsteady = &f.shown, f.shown < f.runs
		about = fmt.Sprintf(", not made small, shown by %d of %d more runs", f.shown, f.runs)
	}
	if !c.JSON {
		a.Printf("\nfound by %s, scenario %d%s:\n\n%s", f.Strategy, f.Runs, about,
			show.Story(f.Outcome))
	}
	return found, c.findings(a.Env).keep(&found.Violation, f.Outcome, f.unsteady)
}

// reportDivergences prints the first scenarios with two different runs, or puts all of them into
// the JSON.
func (c *fuzzCommand) reportDivergences(a *app, found *hunt.Found, j *report.Hunt) error {
	if !c.CheckDeterminism {
		return nil
	}
	n := len(found.Divergences)
	j.Divergences = &n
	if c.JSON {
		return addDiverging(j, found.Divergences)
	}
	for _, d := range found.Divergences[:min(n, maxNamed)] {
		a.Printf("%s\n", d)
		if err := c.findings(a.Env).saveBoth(d); err != nil {
			return err
		}
	}
	if more := n - maxNamed; more > 0 {
		a.Printf("two runs differ: %s\n", command.Plural(more, "more scenario"))
	}
	return nil
}

// addDiverging adds the outcomes of scenarios with two different runs.
func addDiverging(j *report.Hunt, divergences []hunt.Divergence) error {
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
