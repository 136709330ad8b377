package object_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// TestAMissedEventLeavesAWatchOnAValue: the connection is lost twice in a row, so the client misses
// an event for good, and its watch stays until some client waits for the next change. The client
// cannot remove it, so this is no orphan.
func TestAMissedEventLeavesAWatchOnAValue(t *testing.T) {
	o := run(t, scenario.Scenario{
		Workload: builtin(t, "value", ""), Script: scenario.DefaultScript, Seed: 351,
		Plan: plan(t, "cut client=a event=2", "cut client=a event=1"),
	})
	if len(o.Rest.Watches) != 1 || o.Rest.Watches[0].Path != "/value" {
		t.Errorf("watches at rest: %v; expected one on /value", o.Rest.Watches)
	}
	if o.Status() != linearizability.OK {
		t.Error(o.Story())
	}
}

// TestAMissedEventLeavesAWatchOnAQueue in the same way.
func TestAMissedEventLeavesAWatchOnAQueue(t *testing.T) {
	o := run(t, scenario.Scenario{
		Workload: builtin(t, "delay-queue", ""),
		Script:   scenario.Script{Clients: 1, Rounds: 1}, Seed: 3,
		Plan: plan(t, "drop-request client=a op=multi request=3",
			"drop-request client=a op=setWatches request=1"),
	})
	if len(o.Rest.Watches) != 1 || o.Rest.Watches[0].Path != "/queue/items" {
		t.Errorf("watches at rest: %v; expected one on /queue/items", o.Rest.Watches)
	}
	if o.Status() != linearizability.OK {
		t.Error(o.Story())
	}
}
