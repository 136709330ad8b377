package hunt

import (
	"context"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
)

// Minimize makes a violating scenario as small as it can while the same
// property stays violated: fewer faults, fewer clients, a shorter script, a
// schedule with a small seed, weaker and shorter faults, and coordinates that
// name the operation. It first looks for the smallest scenario of all that shows the
// property, in a fixed order, so that the same bug mostly ends as the same scenario,
// however it was found; where there is none so simple, it goes down from what it was
// given, step by step. It is deterministic, and runs on all cores. A scenario that cannot
// be played or judged shows nothing. When ctx is done it returns the smallest so far.
// A run that froze stays as it is, and the first try that freezes is the last: whatever
// froze spins on, and each try would add to it.
func Minimize(ctx context.Context, o *scenario.Outcome) (*scenario.Outcome, error) {
	m := &minimizer{ctx: ctx, best: o, property: o.Property()}
	if m.property == "" {
		return nil, fmt.Errorf("minimize: nothing is violated")
	}
	if o.Result.Frozen != "" {
		return o, nil
	}
	if !m.fromScratch() {
		m.goDown()
		m.alike()
	} else if s := m.best.Scenario.Script; s.Careless || s.GoroutineCount() > 1 {
		m.shortenScript()
	}
	for i := range m.best.Scenario.Plan {
		m.shortenDuration(i)
	}
	m.nameOperations()
	return m.best, nil
}

type minimizer struct {
	ctx      context.Context
	best     *scenario.Outcome
	property string
	kept     int  // steps that were an improvement
	frozen   bool // a try froze
}

// done reports whether nothing more is to be tried.
func (m *minimizer) done() bool { return m.ctx.Err() != nil || m.frozen }

// try runs a candidate and keeps it if it violates the same property.
func (m *minimizer) try(s scenario.Scenario) bool { return m.first([]scenario.Scenario{s}) }

// first runs candidates and keeps the first, in their order, that violates the same
// property; it reports whether there is one.
func (m *minimizer) first(candidates []scenario.Scenario) bool {
	for chunk := range slices.Chunk(candidates, generation) {
		if m.done() {
			return false
		}
		outcomes := make([]*scenario.Outcome, len(chunk))
		together(m.ctx, len(chunk), 0, func(i int) (goOn bool) {
			outcomes[i] = m.play(chunk[i])
			return !m.shows(outcomes[i]) && !froze(outcomes[i])
		})
		for _, o := range outcomes {
			m.frozen = m.frozen || froze(o)
			if m.done() {
				return false
			}
			if m.shows(o) {
				m.best = o
				m.kept++
				return true
			}
		}
	}
	return false
}

// play runs a scenario. There is no outcome if its plan says the same twice, or if
// nothing can be said of it, for instance because too little is done in it.
func (m *minimizer) play(s scenario.Scenario) *scenario.Outcome {
	if len(distinct(s.Plan)) < len(s.Plan) {
		return nil
	}
	return playOne(s, false).outcome
}

// froze reports whether a run did not come to rest; see [fakezk.Result].
func froze(o *scenario.Outcome) bool { return o != nil && o.Result.Frozen != "" }

func (m *minimizer) shows(o *scenario.Outcome) bool { return o != nil && o.Property() == m.property }

// scenario is a copy of the best so far, free to be changed.
func (m *minimizer) scenario() scenario.Scenario {
	s := m.best.Scenario
	s.Plan = slices.Clone(s.Plan)
	return s
}
