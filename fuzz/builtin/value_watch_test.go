package builtin_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestAMissedEventLeavesAWatch: the connection is lost twice in a row, so the client misses an
// event, and its watch stays until the client waits for the next change. The client cannot remove
// the watch, so it is no orphan.
func TestAMissedEventLeavesAWatch(t *testing.T) {
	for _, tt := range []struct {
		kind, path string
		script     scenario.Script
		faults     []string
		seed       uint64 // the first of those to try; it is rare that a watch stays
	}{
		{"value", "/value", scenario.DefaultScript,
			[]string{"cut client=a event=2", "cut client=a event=1"}, 340},
		{"delay-queue", "/queue/items", scenario.Script{Clients: 1, Rounds: 1},
			[]string{"drop-request client=a op=multi request=3",
				"drop-request client=a op=setWatches request=1"}, 0},
	} {
		left := 0
		for seed := tt.seed; seed < tt.seed+1000 && left == 0; seed++ {
			o := fuzztest.Holds(t, scenario.Scenario{
				Workload: fuzztest.Builtin(t, tt.kind, ""), Script: tt.script, Seed: seed,
				Plan: plan(t, tt.faults...),
			})
			for _, w := range o.Result.Watches {
				if w.Path == tt.path {
					left++
				}
			}
			check.Equal(t, len(o.Rest.Watches), 0, "watches that the code has left")
		}
		if left != 1 {
			t.Errorf("%s: %d watches at rest; expected one", tt.kind, left)
		}
	}
}
