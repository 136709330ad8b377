package hunt_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// BenchmarkHunt measures hunts by all strategies over each built-in workload, on
// GOMAXPROCS cores: scenarios per second, and virtual seconds per real one. A
// thousand scenarios for each are a fair sample:
//
//	go test ./fuzz/hunt -run '^$' -bench Hunt -benchtime 1000x -cpu 1,2
func BenchmarkHunt(b *testing.B) {
	for _, w := range builtin.Workloads() {
		b.Run(w.Name+"/"+w.Impl, func(b *testing.B) {
			fuzztest.CollectLikeUsers(b)
			var virtual atomic.Int64
			judge := w.Judge
			w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
				virtual.Add(int64(e.History.EndTime))
				return judge(e)
			}
			hunt := hunt.Hunt{
				Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: b.N, Findings: b.N + 1,
			}
			found, err := hunt.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(found.Runs)/b.Elapsed().Seconds(), "scenarios/s")
			b.ReportMetric(time.Duration(virtual.Load()).Seconds()/b.Elapsed().Seconds(),
				"virtual-s/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
