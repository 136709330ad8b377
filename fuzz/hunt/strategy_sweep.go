package hunt

import (
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// singles is the sweep: first the faults that lose a request, a reply or a session, then those of
// other kinds.
type singles struct {
	noLearning
	input  strategyInput
	rounds [2]fewPoints
}

// fewPoints are some of the points, scattered.
type fewPoints struct {
	points []fault.Fault
	order  *scattered
}

func newSingles(t strategyInput) strategy {
	var first, later []fault.Fault
	for _, f := range FaultPoints(t.base) {
		if slices.Contains(losses, f.Kind) {
			first = append(first, f)
		} else {
			later = append(later, f)
		}
	}
	return &singles{input: t, rounds: [2]fewPoints{
		{first, newScattered(len(first), t.from)},
		{later, newScattered(len(later), t.from)},
	}}
}

func (s *singles) propose() (scenario.Scenario, bool) {
	for _, r := range s.rounds {
		if i, more := r.order.draw(); more {
			return s.input.plain(r.points[i]), true
		}
	}
	return scenario.Scenario{}, false
}
