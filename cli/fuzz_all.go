package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/scenario"
)

// allWorkloads is the WORKLOAD that means all workloads without a known flaw.
const allWorkloads = "all"

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
	played, err := corpus{a.Env, c.Corpus}.load(a.workloads)
	if err != nil {
		return err
	}
	ended := c.huntAll(a, scenarios, played, &total)
	if ended != nil && len(total.Hunts) == 0 {
		return ended
	}
	total.Interrupted, total.Error = a.EndedBy(ended)
	if c.JSON {
		ended = errors.Join(ended, a.JSON(total))
	} else {
		a.Printf("%s\n", total)
	}
	return a.Ending(total.Bad(), ended)
}

// all returns the scenarios of the workloads that can play the script and violate a property that
// counts, and a total with the names of the other workloads.
func (c *fuzzCommand) all(workloads scenario.Catalogue) ([]scenario.Scenario, report.Hunts, error) {
	var scenarios []scenario.Scenario
	total := report.Hunts{
		Shard: c.shard(), Hunts: []report.Hunt{}, LeftOut: []string{},
	}
	if c.CheckDeterminism {
		total.Divergences = new(int)
	}
	if c.Corpus != "" {
		total.Kept = new(int)
	}
	var able []scenario.Workload // to play the script
	for _, w := range workloads {
		if c.Goroutines > 1 && !w.Concurrent(scenario.Script{Careless: c.Careless}) {
			total.LeftOut = append(total.LeftOut, w.Name+" "+w.Impl)
			continue
		}
		able = append(able, w)
		if len(c.Property) > 0 && len(c.countedIn(w)) == 0 {
			total.NotJudged = append(total.NotJudged, w.Name+" "+w.Impl)
			continue
		}
		s, err := c.scenarioOf(w)
		if err != nil {
			return nil, total, err
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, total, c.checkProperties(able...)
}

// huntAll divides the bounds among the workloads; the unused time of a workload passes to the next
// ones. After an error or an interrupt the total has no results of the remaining workloads. A
// workload without a part in the shard is left out.
func (c *fuzzCommand) huntAll(
	a *app, scenarios []scenario.Scenario, played []inCorpus, total *report.Hunts,
) (ended error) {
	begun, unit := 0, 0
	defer func() {
		if ended != nil {
			for _, s := range scenarios[begun:] {
				total.NotReached = append(total.NotReached, s.Workload.Name+" "+s.Workload.Impl)
			}
		}
	}()
	all := budget{bounds: c.bounds, hunts: len(scenarios), began: time.Now()}
	for i, s := range scenarios {
		about := fmt.Sprintf("%d/%d %s: ", i+1, len(scenarios), s.Workload.Impl)
		start := time.Now()
		begun = i + 1
		h, err := c.hunt(a, s, &unit, all.share(i), played, about)
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.Workload.Name, s.Workload.Impl, err)
		}
		total.Seconds += time.Since(start).Seconds()
		if h.Runs+h.Replayed == 0 && h.ended == nil {
			continue
		}
		result, err := c.report(a, s, h)
		total.Add(result)
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
