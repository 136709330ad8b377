package hunt_test

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestMinimizeGivesOneSmallPlan: however a bug was found, with however much
// noise, it ends as the same scenario of one client, one round and one fault.
func TestMinimizeGivesOneSmallPlan(t *testing.T) {
	for _, c := range []struct {
		workload, impl, trigger, want string
		noise                         []string
	}{
		{
			"lock", "zk.Lock", "drop-reply client=b op=getChildren2 request=1",
			"drop-request client=a op=getChildren2 ",
			[]string{
				"delay 100ms client=a request=2", "cut client=c at=20ms",
				"stall 1s client=c request=4",
			},
		},
		{
			"queue", "recipes.ApacheQueue", "drop-reply client=b op=delete request=1",
			"drop-reply client=a op=delete ",
			[]string{
				"delay 100ms client=a request=2", "drop-request client=a op=create request=1",
				"restart 200ms at=1m30s",
			},
		},
	} {
		t.Run(c.impl, func(t *testing.T) {
			t.Parallel()
			seeds, tried := testrun.Pick(uint64(1), 8), 0
			for seed := uint64(1); seed <= seeds; seed++ {
				o := run(t, scenario.Scenario{
					Workload: fuzztest.Builtin(t, c.workload, c.impl),
					Script:   scenario.DefaultScript,
					Seed:     seed * 1_000_003,
					Plan:     plan(t, append(c.noise, c.trigger)...),
				})
				if o.Property() == "" {
					continue // the noise came in between
				}
				tried++
				small, _, err := hunt.Minimize(t.Context(), o)
				check.OK(t, err)
				checkSmallest(t, o, small, c.want)
			}
			if tried*3 < int(seeds) {
				t.Errorf("only %d of %d seeds gave something to minimize", tried, seeds)
			}
		})
	}
}

func checkSmallest(t *testing.T, o, small *scenario.Outcome, want string) {
	t.Helper()
	s := small.Scenario
	if !hunt.Alike(small, o) {
		t.Errorf("%s became %s", o.Summary(), small.Summary())
	}
	// The second of two rounds has calls of its own, such as a poll.
	if s.Script.Clients != 1 || s.Script.Rounds > 2 || len(s.Plan) != 1 ||
		!strings.HasPrefix(s.Plan[0].String(), want) || s.Seed != 1 {
		t.Errorf(
			"from %s, plan %v:\n got %s, plan %v\nwant one client, seed 1, plan [%s...]",
			o.Scenario, o.Scenario.Plan, s, s.Plan, want,
		)
	}
}

// TestMinimizeKeepsNeededClients and loses needless faults.
func TestMinimizeKeepsNeededClients(t *testing.T) {
	s := scenario.Scenario{Workload: blindLocks(),
		Script: scenario.Script{Clients: 5, Rounds: 3}, Seed: 99,
		Plan: plan(t, "cut client=e request=3", "delay 1s client=d request=1")}
	small, _, err := hunt.Minimize(t.Context(), run(t, s))
	check.OK(t, err)
	if got := small.Scenario; got.Script != (scenario.Script{Clients: 2, Rounds: 1}) ||
		len(got.Plan) != 0 {
		t.Errorf("got %s, plan %v; want 2 clients, 1 round, no faults", got, got.Plan)
	}
}

// TestMinimizeSaysThatItWasCutOff gives it some of the tries that it needs.
func TestMinimizeSaysThatItWasCutOff(t *testing.T) {
	o := run(t, scenario.Scenario{Workload: blindLocks(),
		Script: scenario.Script{Clients: 5, Rounds: 3}, Seed: 99,
		Plan: plan(t, "cut client=e request=3", "delay 1s client=d request=1")})
	for _, c := range []struct {
		tries    int
		finished bool
	}{{1, false}, {150, false}, {1000, true}} {
		small, finished, err := hunt.MinimizeWithin(t.Context(), o, c.tries)
		check.OK(t, err)
		check.Equal(t, finished, c.finished, "finished within %d tries", c.tries)
		check.Equal(t, hunt.Alike(small, o), true, "the same bug")
	}
}

// TestMinimizeKeepsTriesForTheSteps: a search from scratch that is cut off leaves enough to lose
// the faults that act on nothing.
func TestMinimizeKeepsTriesForTheSteps(t *testing.T) {
	w := blindLocks()
	s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 5, Rounds: 3}, Seed: 99,
		Plan: plan(t, "cut client=e request=999", "delay 1s client=d request=1")}
	small, finished, err := hunt.MinimizeWithin(t.Context(), run(t, s), 8)
	check.OK(t, err)
	check.Equal(t, finished, false, "finished")
	check.Equal(t, hunt.WhyLarge(t.Context(), finished),
		"perhaps not the smallest: the search for it was cut off")
	check.Equal(t, len(small.Scenario.Plan), 0, "faults of %v", small.Scenario.Plan)
}

// TestMinimizeKeepsNoFaultThatMatchesNothing, even if there is no try left.
func TestMinimizeKeepsNoFaultThatMatchesNothing(t *testing.T) {
	s := scenario.Scenario{Workload: blindLocks(), Script: scenario.Script{Clients: 5, Rounds: 3},
		Seed: 99, Plan: plan(t, "cut client=e request=999", "delay 1s client=d request=998")}
	found := run(t, s)
	check.Contains(t, found.Story(),
		"fault: cut client=e request=999, which matches nothing in this run")
	small, _, err := hunt.MinimizeWithin(t.Context(), found, 1)
	check.OK(t, err)
	check.Equal(t, len(small.Scenario.Plan), 0, "faults of %v", small.Scenario.Plan)

	// Nor of a run on a running ensemble, of which it plays no other.
	found.Scenario.On = new(scenario.Ensemble)
	small, _, err = hunt.Minimize(t.Context(), found)
	check.OK(t, err)
	check.Equal(t, len(small.Scenario.Plan)+len(small.Result.Missed), 0)
	check.Equal(t, small.Scenario.Script.Clients, 5)
	check.Contains(t, small.Story(), "what happened (step, time, who):")

	// But the line of a fault whose time came stays in the trace: the story says what it is.
	came := plan(t, "blackhole 30ms client=a at=82ms")[0]
	found.Scenario.Plan = []fault.Fault{came}
	found.Result.Missed = []fault.Fault{came}
	small, _, err = hunt.Minimize(t.Context(), found)
	check.OK(t, err)
	check.Equal(t, len(small.Scenario.Plan), 0)
	check.Contains(t, small.Story(),
		"fault: blackhole 30ms client=a at=82ms, which matches nothing in this run")
}

func TestMinimizeRefusesWhatIsNotViolated(t *testing.T) {
	o := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
	})
	if _, _, err := hunt.Minimize(t.Context(), o); err == nil {
		t.Error("no error")
	}
}

// TestMinimizeLeavesWhatFroze: each try would leave code that spins.
func TestMinimizeLeavesWhatFroze(t *testing.T) {
	o := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
	})
	o.Result.Frozen, o.Result.Spins = "goroutine 7 [running]", true
	if small, _, err := hunt.Minimize(t.Context(), o); small != o || err != nil {
		t.Errorf("got %v, error %v; want what was given", small, err)
	}
}
