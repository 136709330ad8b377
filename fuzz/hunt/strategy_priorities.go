package hunt

import (
	"math/rand/v2"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// priorities tries schedules by priorities, every other one with faults.
type priorities struct {
	noLearning
	input strategyInput
	space planSpace
	dice  *rand.Rand
	n     int
}

func newPriorities(t strategyInput) strategy {
	return &priorities{
		input: t, space: newPlanSpace(t.base, min(2, t.maxFaults)),
		dice: dice(t.seed, "priorities"),
	}
}

func (p *priorities) propose() (scenario.Scenario, bool) {
	p.n++
	var plan []fault.Fault
	if p.n%2 == 0 {
		plan = p.space.plan(p.dice.IntN)
	}
	s := p.input.plain(plan...)
	s.Seed = p.dice.Uint64()
	s.Script = variedScript(p.input.base, s.Seed)
	s.Schedule.Kind = sim.Priorities
	s.Schedule.Numbers = p.space.changes(p.dice.IntN)
	return s, true
}
