package builtin_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// TestFormerFindings plays scenarios that long hunts in right recipes have found. All but three
// were bugs of a judge, of a workload or of the World.
func TestFormerFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, workload, impl string
		script                scenario.Script
		seed                  uint64
		plan                  []string
	}{
		{"a black hole swallows the answer to a client, which waits longer than the World did",
			"queue", "recipes.Queue", scenario.Script{Clients: 2, Rounds: 2}, 6, []string{
				"cut client=a op=multi request=5", "blackhole 10ms client=a at=47ms",
			}},
		{"the session of a leader ends, before it asks and before it is told",
			"election", "recipes.LeaderSelector", scenario.DefaultScript, 7,
			[]string{"expire client=c at=213ms"}},
		{"the same, of a latch",
			"election", "recipes.LeaderLatch", scenario.DefaultScript, 101, []string{
				"restart 10ms client=a op=multi request=1", "expire client=a at=345ms",
			}},
		{"an outage that began before the last 15 s goes on in them",
			"threshold-barrier", "recipes.ThresholdBarrier",
			scenario.Script{Clients: 1, Rounds: 1}, 1,
			[]string{
				"refuse 5s client=a op=delete request=1",
				"refuse 25.6s client=a op=delete request=2",
			}},
		{"the same, of a server that is down",
			"double-barrier", "recipes.DoubleBarrier", scenario.Script{Clients: 2, Rounds: 1}, 4,
			[]string{
				"expire client=b op=getData request=1",
				"restart 15.33s client=b op=create request=2",
			}},
		{"the second of two leases is lost while the first is given back",
			"semaphore", "recipes.Semaphore", scenario.Script{Clients: 2, Rounds: 1}, 8,
			[]string{
				"delay 1s client=a op=delete request=3", "expire client=a op=delete request=2",
			}},
		{"a stall holds what a client connects with for longer than the World settled",
			"id-generator", "recipes.IDGenerator", scenario.Script{Clients: 2, Rounds: 1}, 5,
			[]string{"cut client=b op=multi request=2", "stall 12.88s client=b at=20ms"}},
		{"a view never rechecks, since it looks every ten seconds at a node that may not be read",
			"membership", "recipes.PersistentNode", scenario.Script{Clients: 2, Rounds: 1},
			8170477154890738279,
			[]string{
				"blackhole 2.77s client=a at=11.6s",
				"drop-request client=a op=setWatches request=1",
			}},
		{"a member dies as another takes it into a group, comes again and leaves with the next",
			"double-barrier", "recipes.DoubleBarrier", scenario.Script{Clients: 2, Rounds: 1}, 18,
			[]string{"drop-reply client=a request=3", "refuse 8s client=a at=10ms"}},
		{"a service is empty so late that the server looks for empty containers after the end",
			"registry", "recipes.ServiceRegistry", scenario.Script{Clients: 3, Rounds: 1}, 185,
			[]string{"late-reap-unlike-3.8 67s client=b at=54.772s"}},
		{"a process rests again although the one before, which has died, has rested",
			"counter", "recipes.Counter", scenario.Script{Clients: 2, Rounds: 2, Goroutines: 2}, 7,
			[]string{"respawn 10ms client=b op=delete request=3"}},
		{"a dead process leaves a lock to a server that is down, which restarts the session's " +
			"timer",
			"lock", "recipes.HerdLock", scenario.Script{Clients: 2, Rounds: 1}, 1, []string{
				"crash client=a op=multi request=1", "crash client=b at=50ms",
				"restart 10s client=a at=30ms",
			}},
		{"a process dies before it learns that its session has ended, and gives no signal",
			"rwlock", "recipes.RWLock", scenario.Script{Clients: 2, Rounds: 1}, 1, []string{
				"crash client=b at=35ms", "expire client=b op=delete request=1",
			}},
		{"a member's node goes with its session before the member knows of the node",
			"double-barrier", "recipes.DoubleBarrier", scenario.Script{Clients: 2, Rounds: 1}, 10,
			[]string{
				"drop-reply client=a op=create request=3", "expire client=a op=multi request=1",
			}},
		{"a new leader looks for empty containers after the end",
			"registry", "recipes.ServiceRegistry",
			scenario.Script{Clients: 1, Rounds: 1, Servers: 3}, 1,
			[]string{"failover-lose 10ms client=a op=sync request=9"}},
		{"a wait finds the next barrier, whose maker dies, and leaves a watch on it",
			"barrier", "recipes.Barrier", scenario.Script{Clients: 2, Rounds: 1, Servers: 3},
			11479638183194462175, []string{"crash client=a request=10"}},
		{"a process dies in three takes, of which one has removed an element",
			"queue", "recipes.Queue", scenario.Script{Clients: 1, Rounds: 1, Goroutines: 3}, 2,
			[]string{"crash client=a op=delete request=5"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			o := run(t, scenario.Scenario{
				Workload: fuzztest.Builtin(t, c.workload, c.impl), Script: c.script, Seed: c.seed,
				Plan: plan(t, c.plan...),
			})
			if len(o.Result.Missed) > 0 || o.Status() != linearizability.OK {
				t.Errorf("missed %v\n%s", o.Result.Missed, o.Story())
			}
		})
	}
}
