package hunt

import (
	"math/rand/v2"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
)

// randomPlans draws plans and seeds.
type randomPlans struct {
	noLearning
	input strategyInput
	space planSpace
	n     uint64
}

func newRandomPlans(t strategyInput) strategy {
	return &randomPlans{input: t, space: newPlanSpace(t.base, t.maxFaults)}
}

func (r *randomPlans) propose() (scenario.Scenario, bool) {
	r.n++
	s := r.input.plain()
	s.Seed = mix.Hash(r.input.seed, r.n)
	s.Script = variedScript(r.input.base, s.Seed)
	s.Plan = r.space.of(s).plan(rand.New(rand.NewPCG(s.Seed, 0)).IntN)
	return s, true
}
