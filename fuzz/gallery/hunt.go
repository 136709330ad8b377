package gallery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Hunted is the outcome of a hunt for one exhibit.
type Hunted struct {
	Exhibit Exhibit
	Seed    uint64
	// Minimal is the scenario that shows the bug, after Shrink the smallest one, nil if the bug
	// was not found.
	Minimal *scenario.Outcome
	// Runs is the number of scenarios until it was found, and Took the real time for that;
	// Shrinking is the real time for making the scenario small.
	Runs            int
	Took, Shrinking time.Duration
}

// Found reports whether the hunt has found the exhibit's bug.
func (h Hunted) Found() bool { return h.Minimal != nil }

// MaxRuns is the number of scenarios after which a hunt should give up.
const MaxRuns = 3000

// Hunt looks for the bug of an exhibit in at most the given number of scenarios, and makes the
// scenario that shows it small. It knows nothing but the recipe. The seed decides everything but
// the times. Strategies are names as hunt.Hunt takes them, none for all. When ctx is done it
// returns its result so far and the context's error.
func (e Exhibit) Hunt(
	ctx context.Context, seed uint64, runs int, strategies ...string,
) (Hunted, error) {
	h, err := e.Find(ctx, seed, runs, strategies...)
	if err == nil {
		err = h.Shrink(ctx)
	}
	return h, err
}

// Find is the first half of Hunt: Minimal is as it was found.
func (e Exhibit) Find(
	ctx context.Context, seed uint64, runs int, strategies ...string,
) (Hunted, error) {
	h := Hunted{Exhibit: e, Seed: seed}
	start := time.Now()
	found, err := hunt.Hunt{
		Workload: e.Wrong, Script: e.Script, Seed: seed, Runs: runs, Strategies: strategies,
		Counts: e.isShownBy,
	}.Run(ctx)
	h.Took = time.Since(start)
	if found != nil {
		h.Runs = found.Runs
	}
	if err == nil && found.First() != nil && !e.isShownBy(found.First()) {
		err = fmt.Errorf("%s: %s", found.First().Property(), found.First().Summary())
	}
	if err != nil {
		return h, fmt.Errorf("hunt %s: %w", e.Slug, err)
	}
	h.Minimal = found.First()
	return h, nil
}

// isShownBy reports whether an outcome shows the bug. A story tells of one property; a
// planted bug may violate others, too, as an element taken twice is a matter of delivery
// and of linearizability.
func (e Exhibit) isShownBy(o *scenario.Outcome) bool {
	v, judged := o.Report.Verdict(e.Property)
	return o.Property() == e.Property && strings.Contains(o.Summary(), e.Says) ||
		!e.HasStory() && judged && v.Status == linearizability.Violated
}

// Shrink is the second half of Hunt: it makes Minimal small, if there is one.
func (h *Hunted) Shrink(ctx context.Context) (err error) {
	if h.Found() {
		start := time.Now()
		h.Minimal, _, err = hunt.Minimize(ctx, h.Minimal)
		h.Shrinking = time.Since(start)
	}
	if err == nil {
		err = ctx.Err() // the scenario is not the smallest
	}
	if err != nil {
		return fmt.Errorf("hunt %s: %w", h.Exhibit.Slug, err)
	}
	return nil
}

// Survives sends the right recipe through the hunt that finds the wrong one, for the given number
// of runs. It returns the first violation, of any property, or nil. Unless the exhibit is about
// several servers the right recipe has one: some read without a write before, which is old data
// then.
func (e Exhibit) Survives(ctx context.Context, seed uint64, runs int) (*scenario.Outcome, error) {
	script := e.Script
	script.Servers = max(1, script.Servers)
	found, err := hunt.Hunt{Workload: e.Right, Script: script, Seed: seed, Runs: runs}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("hunt %s: %w", e.Slug, err)
	}
	return found.First(), nil
}
