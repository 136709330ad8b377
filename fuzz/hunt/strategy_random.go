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
	seed := mix.Hash(r.input.seed, r.n)
	script := sharedScript(r.input.base, seed)
	space := r.space.times(script.Goroutines)
	s := r.input.plain(space.plan(rand.New(rand.NewPCG(seed, 0)).IntN)...)
	s.Seed, s.Script = seed, script
	return s, true
}
