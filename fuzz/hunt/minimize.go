package hunt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Minimize makes a violating scenario as small as it can, as long as the violation is [Alike]:
// fewer faults, fewer clients, a shorter script, a schedule with a small seed, weaker and shorter
// faults, and coordinates that name the operation.
//
// It first looks for the smallest scenario of all that shows the bug, in a fixed order. So one
// bug mostly ends as one scenario, however it was found. If there is no such simple scenario, it
// makes the given one smaller, step by step. It is deterministic, and runs on all cores. A scenario
// that cannot be played or judged does not count. When ctx is done, or after 4,000 tries, of which
// the first search has three quarters, it returns the smallest scenario so far, and that the search
// is not finished.
//
// A run with code that spins without end, a deadlock, or goroutines without number stays as it is,
// and the search ends at the first try with such code: each further try would leave more of it
// running. A run on a running ensemble only loses the faults that match nothing: no two are alike.
func Minimize(
	ctx context.Context, o *scenario.Outcome,
) (small *scenario.Outcome, finished bool, err error) {
	return minimize(ctx, o, mostTries)
}

// mostTries bounds the search. A finding mostly takes some hundred tries.
const mostTries = 4000

func minimize(
	ctx context.Context, o *scenario.Outcome, most int,
) (small *scenario.Outcome, finished bool, err error) {
	m := &minimizer{ctx: ctx, best: o, bug: o, left: most}
	if o.Property() == "" {
		return nil, false, fmt.Errorf("minimize: nothing is violated")
	}
	switch {
	case o.Scenario.On != nil:
		return withoutMissed(o), true, nil
	case froze(o):
		return o, true, nil
	}
	own := most / 4 // of the steps
	m.left -= own
	found := m.fromScratch()
	cutOff := !found && m.left == 0
	m.left += own
	if !found {
		m.shrink()
		m.canonical()
	} else if s := m.best.Scenario.Script; s.Careless || s.Goroutines > 1 {
		m.shortenScript()
	}
	for i := range m.best.Scenario.Plan {
		m.shortenDuration(i)
	}
	m.nameOperations()
	m.dropMissed()
	return m.best, !cutOff && ctx.Err() == nil && m.left > 0, nil
}

type minimizer struct {
	ctx    context.Context
	best   *scenario.Outcome
	bug    *scenario.Outcome // as it was found
	kept   int               // steps that were an improvement
	left   int               // candidates that it may try
	frozen bool              // a try froze
}

// done reports whether the search is over.
func (m *minimizer) done() bool {
	return m.ctx.Err() != nil || m.frozen || m.left == 0
}

// try runs a candidate and keeps it if it shows the same bug.
func (m *minimizer) try(s scenario.Scenario) bool { return m.first([]scenario.Scenario{s}) }

// first runs candidates and keeps the first, in their order, that shows the same bug. It
// reports whether there is one.
func (m *minimizer) first(candidates []scenario.Scenario) bool {
	if m.done() {
		return false
	}
	candidates = candidates[:min(len(candidates), m.left)]
	outcomes := make([]*scenario.Outcome, len(candidates)) // of those that show the bug, or froze
	parallel(m.ctx, len(candidates), 0, func(i int) (goOn bool) {
		o := m.play(candidates[i])
		if m.showsBug(o) || froze(o) {
			outcomes[i] = o
			return false
		}
		return true
	})
	i := slices.IndexFunc(outcomes, func(o *scenario.Outcome) bool { return o != nil })
	if m.frozen = i >= 0 && froze(outcomes[i]); m.frozen {
		return false
	}
	if i < 0 {
		m.left -= len(candidates)
		return false
	}
	m.left -= i + 1
	m.best = outcomes[i]
	m.kept++
	return true
}

// play runs a scenario. There is no outcome if its plan has a fault twice, or if the run cannot be
// judged, for instance because too little happens in it.
func (m *minimizer) play(s scenario.Scenario) *scenario.Outcome {
	if len(distinct(s.Plan)) < len(s.Plan) {
		return nil
	}
	return playOne(s, false).outcome
}

// froze reports whether a run has left code behind that spins, a deadlock, or thousands of
// goroutines. Then the search ends: each further run of the kind would leave more, or would take as
// long as the World waits.
func froze(o *scenario.Outcome) bool {
	return o != nil && (o.Result.Spins ||
		o.Result.Frozen != "" && o.Status() == linearizability.Violated ||
		o.Result.Runaway != nil && o.Result.Runaway.Goroutines > 0)
}

func (m *minimizer) showsBug(o *scenario.Outcome) bool {
	return o != nil && o.Property() != "" && Alike(m.bug, o)
}

// scenario is a copy of the best scenario so far. The caller may change it.
func (m *minimizer) scenario() scenario.Scenario {
	s := m.best.Scenario
	s.Plan = slices.Clone(s.Plan)
	return s
}

// WhyLarge says why a scenario that Minimize has made with a context may not be as small as
// possible, "" if it is.
func WhyLarge(ctx context.Context, finished bool) string {
	switch {
	case finished:
		return ""
	case errors.Is(ctx.Err(), context.Canceled):
		return "not made smaller: interrupted"
	case ctx.Err() != nil:
		return fmt.Sprintf("not made smaller: %v", context.Cause(ctx))
	}
	return "perhaps not the smallest: the search for it was cut off"
}
