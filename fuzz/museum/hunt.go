package museum

import (
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz"
)

// Hunted is the outcome of a hunt for one exhibit.
type Hunted struct {
	Exhibit Exhibit
	Seed    uint64
	// Minimal is the smallest scenario that shows the bug, nil if it was not found.
	Minimal *fuzz.Outcome
	// Runs is how many scenarios were tried until it was found, and Took the real time
	// for that; Shrinking is the real time for making the scenario small.
	Runs            int
	Took, Shrinking time.Duration
}

// Found reports whether the hunt has found the exhibit's bug.
func (h Hunted) Found() bool { return h.Minimal != nil }

// MaxRuns is after how many scenarios a hunt should give up.
const MaxRuns = 3000

// Hunt looks for the bug of an exhibit in so many scenarios at most, beginning with
// nothing but its recipe, and makes the scenario that shows it small. Everything is
// decided by the seed but the times. Strategies are names as fuzz.Hunt takes them,
// none for all. When ctx is done it returns what it has and the context's error.
func (e Exhibit) Hunt(ctx context.Context, seed uint64, runs int, strategies ...string) (Hunted, error) {
	h := Hunted{Exhibit: e, Seed: seed}
	start := time.Now()
	c, err := hunt(ctx, fuzz.Hunt{Workload: e.Wrong, Script: e.Script, Property: e.Property, Seed: seed, Runs: runs, Strategies: strategies})
	h.Runs, h.Took = c.runs, time.Since(start)
	if err == nil && c.outcome != nil {
		h.Minimal, err = fuzz.Minimize(ctx, c.outcome)
		h.Shrinking = time.Since(start) - h.Took
	}
	if err == nil {
		err = ctx.Err() // what was made small until then is not the smallest
	}
	if err != nil {
		return h, fmt.Errorf("hunt %s: %w", e.ID, err)
	}
	return h, nil
}

// Survives sends the right recipe through the hunt that the wrong one is found by,
// for so many runs. It returns the first violation, of whatever property, or nil.
func (e Exhibit) Survives(ctx context.Context, seed uint64, runs int) (*fuzz.Outcome, error) {
	c, err := hunt(ctx, fuzz.Hunt{Workload: e.Right, Script: e.Script, Seed: seed, Runs: runs})
	if err != nil {
		return nil, fmt.Errorf("hunt %s: %w", e.ID, err)
	}
	return c.outcome, nil
}

// catch is what a hunt has led to.
type catch struct {
	outcome *fuzz.Outcome // the first that violates the property, nil if there is none
	runs    int           // scenarios tried until then
}

// hunt goes on until the property of h is violated, "" for any, and before all others
// of the same run. It knows nothing but the workload.
func hunt(ctx context.Context, h fuzz.Hunt) (c catch, err error) {
	for most := h.Runs; c.runs < most; h.Seed += batchStep {
		h.Runs = most - c.runs
		found, err := h.Run(ctx)
		if found != nil {
			c.runs += found.Runs
		}
		if err != nil || found.First() == nil {
			return c, err
		}
		if h.Property == "" || found.First().Property() == h.Property {
			c.outcome = found.First()
			return c, nil
		}
	}
	return c, nil
}

// batchStep keeps the seeds of one hunt away from those of its neighbours.
const batchStep = 1_000_003
