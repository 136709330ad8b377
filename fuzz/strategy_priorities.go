package fuzz

import (
	"math/rand/v2"
	"slices"

	"github.com/zksim/zksim/fakezk"
)

// priorities tries schedules by priorities, every other one with faults.
type priorities struct {
	deaf
	terrain  Terrain
	space    planSpace
	dice     *rand.Rand
	messages int // about as many does a run deliver
	n        int
}

func newPriorities(t Terrain) Strategy {
	return &priorities{
		terrain: t, space: newPlanSpace(t.Base, min(2, t.MaxFaults)), dice: dice(t.Seed, "priorities"),
		messages: 2*(len(t.Base.Result.Requests)+len(t.Base.Scenario.Script.clientNames())) + len(t.Base.Result.Events),
	}
}

// maxDepth is the number of events up to whose order a bug may depend.
const maxDepth = 4

func (p *priorities) Propose() (Scenario, bool) {
	p.n++
	var plan []fakezk.Fault
	if p.n%2 == 0 {
		plan = p.space.plan(p.dice.IntN)
	}
	s := p.terrain.plain(plan...)
	s.Seed = p.dice.Uint64()
	s.Schedule.Kind = fakezk.Priorities
	for range p.dice.IntN(maxDepth) {
		if at := 1 + p.dice.IntN(p.messages); !slices.Contains(s.Schedule.Numbers, at) {
			s.Schedule.Numbers = append(s.Schedule.Numbers, at)
		}
	}
	return s, true
}
