package builtin_test

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
)

// BenchmarkJudge judges histories of runs without faults.
func BenchmarkJudge(b *testing.B) {
	for _, kind := range []string{"lock", "rwlock", "queue"} {
		for _, script := range []scenario.Script{
			{Clients: 3, Rounds: 2}, {Clients: 4, Rounds: 4}, {Clients: 8, Rounds: 8},
			{Clients: 26, Rounds: 2},
		} {
			b.Run(fmt.Sprintf("%s/%dx%d", kind, script.Clients, script.Rounds),
				func(b *testing.B) {
					w, err := builtin.Find(kind, "")
					if err != nil {
						b.Fatal(err)
					}
					o, err := scenario.Scenario{Workload: w, Script: script, Seed: 1}.Run()
					if err != nil {
						b.Fatal(err)
					}
					for b.Loop() {
						if _, err := w.Judge(scenario.Evidence{
							History: o.History, Rest: o.Rest,
						}); err != nil {
							b.Fatal(err)
						}
					}
				})
		}
	}
}
