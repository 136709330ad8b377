package hunt

import (
	"math/rand/v2"

	"github.com/zksim/zksim/fuzz/internal/mix"
	"github.com/zksim/zksim/fuzz/scenario"
)

// randomPlans draws plans and seeds.
type randomPlans struct {
	deaf
	terrain terrain
	space   planSpace
	n       uint64
}

func newRandomPlans(t terrain) strategy {
	return &randomPlans{terrain: t, space: newPlanSpace(t.base, t.maxFaults)}
}

func (r *randomPlans) propose() (scenario.Scenario, bool) {
	r.n++
	seed := mix.Hash(r.terrain.seed, r.n)
	script := sharedScript(r.terrain.base, seed)
	space := r.space.times(script.Goroutines)
	s := r.terrain.plain(space.plan(rand.New(rand.NewPCG(seed, 0)).IntN)...)
	s.Seed, s.Script = seed, script
	return s, true
}
