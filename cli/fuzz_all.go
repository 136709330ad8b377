package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
)

// allWorkloads is the WORKLOAD that means all workloads without a known flaw.
const allWorkloads = "all"

// huntsJSON is the result of the hunts in all workloads, for programs.
type huntsJSON struct {
	Shard string     `json:"shard,omitempty"`
	Work  string     `json:"work,omitempty"` // of all shards
	Hunts []fuzzJSON `json:"hunts"`
	// LeftOut are the workloads that cannot play the script.
	LeftOut     []string `json:"left_out"`
	Runs        int      `json:"runs"`
	Replayed    int      `json:"replayed"`
	Kept        *int     `json:"kept,omitempty"`
	Seconds     float64  `json:"seconds"` // of hunting alone
	Traces      int      `json:"traces"`
	Behaviours  int      `json:"behaviours"`
	Findings    int      `json:"findings"`
	Undecided   int      `json:"undecided"`
	Divergences *int     `json:"divergences,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Error       string   `json:"error,omitempty"` // that ended the hunts early
}

// runAll hunts in all workloads without a known flaw, one after the other.
func (c *fuzzCommand) runAll(a *app) error {
	if c.Impl != "" {
		return fmt.Errorf("--impl: %q; expected a WORKLOAD before it", c.Impl)
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := c.playKnown(a); err != nil {
		return err
	}
	scenarios, total, err := c.all(a.workloads.Sound())
	if err != nil {
		return err
	}
	if c.bounds.runs > 0 && c.bounds.runs < len(scenarios) {
		return fmt.Errorf("--runs: %d; expected %d or more, one for each workload",
			c.bounds.runs, len(scenarios))
	}
	corpus, err := a.loadCorpus(c.Corpus)
	if err != nil {
		return err
	}
	ended := c.huntAll(a, scenarios, corpus, &total)
	if ended != nil && len(total.Hunts) == 0 {
		return ended
	}
	total.Interrupted, total.Error = a.EndedBy(ended)
	if c.JSON {
		ended = errors.Join(ended, a.JSON(total))
	} else {
		a.Printf("%s\n", total)
	}
	return a.Ending(total.bad(), ended)
}

// all returns the scenarios of the workloads that can play the script, and a total with the names
// of the other workloads.
func (c *fuzzCommand) all(workloads scenario.Catalogue) ([]scenario.Scenario, huntsJSON, error) {
	var scenarios []scenario.Scenario
	total := huntsJSON{
		Shard: c.Shard.String(), Work: c.work(), Hunts: []fuzzJSON{}, LeftOut: []string{},
	}
	if c.CheckDeterminism {
		total.Divergences = new(int)
	}
	if c.Corpus != "" {
		total.Kept = new(int)
	}
	for _, w := range workloads {
		if c.Goroutines > 1 && !w.Concurrent(scenario.Script{Careless: c.Careless}) {
			total.LeftOut = append(total.LeftOut, w.Name+" "+w.Impl)
			continue
		}
		s, err := c.scenarioOf(w)
		if err != nil {
			return nil, total, err
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, total, nil
}

// huntAll divides the bounds among the workloads; the unused time of a workload passes to the next
// ones. After an error or an interrupt the total has no results of the remaining workloads. A
// workload without a part in the shard is left out.
func (c *fuzzCommand) huntAll(
	a *app, scenarios, corpus []scenario.Scenario, total *huntsJSON,
) error {
	all := budget{bounds: c.bounds, hunts: len(scenarios), began: time.Now()}
	for i, s := range scenarios {
		about := fmt.Sprintf("%d/%d %s: ", i+1, len(scenarios), s.Workload.Impl)
		start := time.Now()
		h, err := c.hunt(a, s, i, all.share(i), corpus, about)
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.Workload.Name, s.Workload.Impl, err)
		}
		total.Seconds += time.Since(start).Seconds()
		if h.Runs+h.Replayed == 0 && h.ended == nil {
			continue
		}
		report, err := c.report(a, s, h)
		total.add(report)
		if err == nil {
			err = h.ended
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.Workload.Name, s.Workload.Impl, err)
		}
		if err := a.Context.Err(); err != nil {
			return err
		}
	}
	return nil
}

// budget is the time and the number of runs that several hunts share.
type budget struct {
	bounds
	hunts int
	began time.Time
}

// share is the part of the i-th hunt. If the runs do not divide evenly, the first hunts get one run
// more.
func (b budget) share(i int) bounds {
	part := bounds{runs: b.runs / b.hunts}
	if i < b.runs%b.hunts {
		part.runs++
	}
	if b.time > 0 {
		rest := b.time - time.Since(b.began)
		part.time = max(rest/time.Duration(b.hunts-i), time.Millisecond)
	}
	return part
}

// add adds the result of a hunt.
func (j *huntsJSON) add(h fuzzJSON) {
	j.Hunts = append(j.Hunts, h)
	j.Runs += h.Runs
	j.Replayed += h.Replayed
	j.Traces += h.Traces
	j.Behaviours += h.Behaviours
	j.Findings += len(h.Findings)
	j.Undecided += h.Undecided
	if h.Kept != nil {
		*j.Kept += *h.Kept
	}
	if h.Divergences != nil {
		*j.Divergences += *h.Divergences
	}
}

// bad reports whether a hunt has found a violation or a divergence, or could decide nothing.
func (j huntsJSON) bad() bool { return slices.ContainsFunc(j.Hunts, fuzzJSON.bad) }

// String is the total in one line.
func (j huntsJSON) String() string {
	text := fmt.Sprintf("total of %s: %s, %.0f/s, %s, %s, %s, %d undecided",
		command.Plural(len(j.Hunts), "workload"), tried(j.Runs, j.Replayed),
		float64(j.Runs+j.Replayed)/max(j.Seconds, 1e-9), command.Plural(j.Traces, "trace"),
		command.Plural(j.Behaviours, "behaviour"), command.Plural(j.Findings, "finding"), j.Undecided)
	if j.Kept != nil {
		text += fmt.Sprintf(", %d kept", *j.Kept)
	}
	if j.Divergences != nil {
		text += ", " + command.Plural(*j.Divergences, "divergence")
	}
	text += command.EndText(j.Interrupted, j.Error)
	if n := len(j.LeftOut); n > 0 {
		text += fmt.Sprintf("\nleft out, as their objects are not for several goroutines: %s",
			command.Plural(n, "workload"))
	}
	return text
}
