package fuzz_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

var pairs = flag.Int("pairs", 4, "number of random scenarios with several hands that are run twice for each workload")

// otherScenario draws a scenario that is rough, or in which goroutines share an
// object.
func otherScenario(w fuzz.Workload, seed uint64) fuzz.Scenario {
	s := randomScenario(w, seed)
	rng := rand.New(rand.NewPCG(seed, 8))
	s.Script.Rough = !w.Shared || rng.IntN(2) == 0
	if w.Shared {
		s.Script.Hands = 1 + rng.IntN(4)
	}
	return s
}

// TestTwoRunsOfSeveralHandsHaveOneTrace, although they share a connection, a
// session and an object, which one of them closes now and then.
func TestTwoRunsOfSeveralHandsHaveOneTrace(t *testing.T) {
	for _, w := range fuzz.Workloads() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*pairs) {
				s := otherScenario(w, seed)
				o, same, err := s.Traces()
				if err != nil {
					t.Errorf("%s, plan %v: %v", s, s.Plan, err)
					continue
				}
				if !same {
					t.Errorf("two runs differ: %s, plan %v", s, s.Plan)
				}
				if o.Status() == linearizability.Violated && flawed[w.Impl] == "" {
					t.Errorf("%s, plan %v:\n%s", s, s.Plan, o.Story())
				}
			}
		})
	}
}
