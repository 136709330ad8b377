package hunt_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// TestCoverageEndsSessionsInPauses: a session that ends while nothing is under way is
// at no request, and the search proposes it all the same, again and again.
func TestCoverageEndsSessionsInPauses(t *testing.T) {
	t.Parallel()
	w := fuzztest.Builtin(t, "lock", "")
	var ends, quiet atomic.Int64
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		i := slices.IndexFunc(e.Plan, func(f fault.Fault) bool {
			return f.Kind == fault.Expire && f.At > 0
		})
		if i >= 0 {
			ends.Add(1)
			near := func(at time.Duration) bool {
				return (at - e.Plan[i].At).Abs() < time.Millisecond
			}
			if !slices.ContainsFunc(e.History.Ops, func(op linearizability.Op) bool {
				return near(op.CallTime) || near(op.ReturnTime)
			}) {
				quiet.Add(1)
			}
		}
		return judge(e)
	}
	const runs = 200
	hunt := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1},
		Strategies: []string{"coverage"}, Seed: 1, Runs: runs,
	}
	if _, err := hunt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d runs end a session at a time, %d of these in a pause", ends.Load(), runs,
		quiet.Load())
	if ends.Load() < runs/6 || quiet.Load() < ends.Load()*3/4 {
		t.Errorf(
			"%d of %d runs end a session at a time, %d of these in a pause; "+
				"expected a sixth, and three quarters",
			ends.Load(), runs, quiet.Load(),
		)
	}
}
