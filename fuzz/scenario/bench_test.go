package scenario_test

import (
	"math/rand/v2"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
)

// BenchmarkScenario measures whole scenarios with their verdicts, of 4 clients and 4 rounds:
// without faults, and with random plans of up to 4 faults. The collector is that of users, and in
// the benchmarks with tuned in their names that of the tests of this module.
//
//	go test ./fuzz/scenario -run '^$' -bench Scenario
func BenchmarkScenario(b *testing.B) {
	for _, c := range []struct{ workload, impl string }{
		{"lock", "recipes.Lock"}, {"queue", "recipes.Queue"},
	} {
		for _, faults := range []int{0, 4} {
			name := c.workload + "/calm"
			if faults > 0 {
				name = c.workload + "/faults"
			}
			w := fuzztest.Builtin(b, c.workload, c.impl)
			b.Run(name, func(b *testing.B) {
				fuzztest.CollectLikeUsers(b)
				benchmarkScenario(b, w, faults)
			})
			b.Run(name+"/tuned", func(b *testing.B) { benchmarkScenario(b, w, faults) })
		}
	}
}

func benchmarkScenario(b *testing.B, w scenario.Workload, maxFaults int) {
	requests, steps := 0, int64(0)
	for i := range b.N {
		s := scenario.Scenario{
			Workload: w, Script: scenario.Script{Clients: 4, Rounds: 4}, Seed: uint64(i),
		}
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		for range rng.IntN(maxFaults + 1) {
			s.Plan = append(s.Plan, randomFault(rng, 4))
		}
		r := run(b, s).Result
		requests += len(r.Requests)
		steps += r.Steps
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
	b.ReportMetric(float64(requests)/float64(b.N), "requests/run")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
