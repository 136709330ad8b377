package hunt_test

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// TestReadsAtADeposedLeaderAreFound: the default hunt finds a barrier that rests on a sync, and
// accuses no barrier that sends a write instead.
func TestReadsAtADeposedLeaderAreFound(t *testing.T) {
	for _, test := range []struct {
		opts  []recipes.Option
		found bool
	}{{[]recipes.Option{recipes.SyncOnly()}, true}, {nil, false}} {
		found, err := hunt.Hunt{
			Workload: object.Barrier(func(env object.Env) object.Barrierer {
				return recipes.NewBarrier(env.Conn, env.Path, test.opts...)
			}, object.BarrierClaims{AllPass: true}),
			Script: scenario.Script{Clients: 3, Rounds: 2, Servers: 3}, Seed: 1, Runs: 150,
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o := found.First()
		switch {
		case o == nil && test.found:
			t.Error("the hunt does not find the barrier with a sync")
		case o != nil && !test.found:
			t.Errorf("the right barrier: %s", o.Summary())
		case o != nil && o.Scenario.Plan[1].Kind != fault.Isolate:
			t.Errorf("found by %v", o.Scenario.Plan)
		}
	}
}
