package hunt

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
)

// Inputs turn the bytes of Go's fuzzing engine into scenarios.
type Inputs struct {
	base  *scenario.Outcome
	space planSpace
}

// NewInputs makes scenarios like that of a run without faults. It returns an error if there was
// nothing to judge in that run (see [Sweep.CheckJudged]), if it used the real network, or if it
// froze.
func NewInputs(base *scenario.Outcome) (Inputs, error) {
	err := checkCalm(base)
	if err == nil {
		err = basisOf(base).check(base.Scenario.Workload, 1)
	}
	if err != nil {
		return Inputs{}, err
	}
	return Inputs{base, newPlanSpace(base, 0)}, nil
}

// Seeds are inputs to begin with, which have different numbers of faults.
func (i Inputs) Seeds() [][]byte {
	var seeds [][]byte
	for n := range 4 * i.space.maxFaults {
		var seed []byte
		for word := range 3 + n%i.space.maxFaults {
			seed = binary.LittleEndian.AppendUint64(seed, mix.Hash(uint64(n), uint64(word)))
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// Scenario reads the bytes of the engine, eight for each decision: the seed, the schedule, and then
// the faults, one after the other. The bytes of a fault decide that fault alone, so that a change
// of some bytes changes one fault. Missing bytes are zero, and bytes beyond the longest plan are
// not read: every input is a scenario.
func (i Inputs) Scenario(data []byte) scenario.Scenario {
	words, s := wordsOf(data), i.base.Scenario
	s.Seed, s.Plan, s.Schedule = words[0], nil, sim.Schedule{}
	s.Script = variedScript(i.base, s.Seed)
	p := i.space.of(s)
	if words[1]%2 == 1 {
		s.Schedule.Kind = sim.Priorities
		s.Schedule.Numbers = p.changes(rand.New(rand.NewPCG(words[1], 0)).IntN)
	}
	for _, word := range words[2:min(len(words), 2+p.maxFaults)] {
		s.Plan = append(s.Plan, p.fault(rand.New(rand.NewPCG(word, 0)).IntN, p.kinds))
	}
	s.Plan = distinct(s.Plan)
	return s
}

// wordsOf are bytes as numbers of eight bytes each, at least two numbers.
func wordsOf(data []byte) []uint64 {
	words := make([]uint64, max(2, (len(data)+7)/8))
	for i, b := range data {
		words[i/8] |= uint64(b) << (i % 8 * 8)
	}
	return words
}
