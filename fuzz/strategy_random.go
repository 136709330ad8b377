package fuzz

import "math/rand/v2"

// randomPlans draws plans and seeds.
type randomPlans struct {
	deaf
	terrain Terrain
	space   planSpace
	n       uint64
}

func newRandomPlans(t Terrain) Strategy {
	return &randomPlans{terrain: t, space: newPlanSpace(t.Base, t.MaxFaults)}
}

func (r *randomPlans) Propose() (Scenario, bool) {
	r.n++
	seed := hash(r.terrain.Seed, r.n)
	s := r.terrain.plain(r.space.plan(rand.New(rand.NewPCG(seed, 0)).IntN)...)
	s.Seed = seed
	return s, true
}
