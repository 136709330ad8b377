package hunt_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestHuntFindsThePublishedBugs from every seed, within a bounded number of
// runs.
func TestHuntFindsThePublishedBugs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workload, impl, property string
		runs                     int
	}{
		{"lock", "zk.Lock", linearizability.Liveness, 50},
		{"queue", "recipes.ApacheQueue", linearizability.Delivery, 400},
	} {
		t.Run(c.impl, func(t *testing.T) {
			for seed := range testrun.Pick(uint64(3), 10) {
				search := hunt.Hunt{
					Workload: fuzztest.Builtin(t, c.workload, c.impl),
					Script:   scenario.Script{Clients: 2, Rounds: 2}, Seed: 1 + seed, Runs: c.runs,
					Properties: []string{c.property},
				}
				found, err := search.Run(t.Context())
				check.OK(t, err)
				if found.First() == nil || found.First().Property() != c.property {
					t.Errorf("seed %d: no violation of %s in %d runs", 1+seed, c.property,
						found.Runs)
				}
			}
		})
	}
}

// TestHuntIsDeterministic: the same seed finds the same, after the same number
// of runs, shrunk to the same scenario, whatever the machine is doing meanwhile.
func TestHuntIsDeterministic(t *testing.T) {
	search := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "queue", "recipes.ApacheQueue"),
		Script:   scenario.Script{Clients: 2, Rounds: 2}, Seed: 3, Runs: 400,
	}
	var first *hunt.Found
	for range 3 {
		found, err := search.Run(t.Context())
		check.OK(t, err)
		if first == nil {
			first = found
			continue
		}
		a, b := first.First(), found.First()
		if found.Runs != first.Runs || a.Result.Trace.Hash() != b.Result.Trace.Hash() ||
			!slices.Equal(a.Scenario.Plan, b.Scenario.Plan) {
			t.Fatalf("%d runs, %s, plan %v\n%d runs, %s, plan %v",
				first.Runs, a.Scenario, a.Scenario.Plan, found.Runs, b.Scenario, b.Scenario.Plan)
		}
	}
}

// TestSeedsDiffer: another seed is another search.
func TestSeedsDiffer(t *testing.T) {
	plans := map[string]bool{}
	for seed := range uint64(5) {
		search := hunt.Hunt{
			Workload: fuzztest.Builtin(t, "lock", "zk.Lock"), Script: scenario.Script{Clients: 1, Rounds: 1},
			Seed: seed, Runs: 100,
		}
		found, err := search.Run(t.Context())
		check.OK(t, err)
		if found.First() != nil {
			plans[found.First().Result.Trace.Hash()] = true
		}
	}
	if len(plans) < 2 {
		t.Errorf("5 seeds led to %d different findings", len(plans))
	}
}

func TestHuntNeedsABound(t *testing.T) {
	if _, err := (hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.DefaultScript,
	}).Run(t.Context()); err == nil {
		t.Error("no error")
	}
}

// TestHuntBoundsThePlans: one that is too long would take all memory.
func TestHuntBoundsThePlans(t *testing.T) {
	search := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 1, Rounds: 1},
		Strategies: []string{"random"}, Runs: 3,
	}
	for _, n := range []int{-1, hunt.MostFaults + 1, math.MaxInt} {
		search.MaxFaults = n
		want := fmt.Sprintf("hunt: MaxFaults: %d; expected 0 to 100", n)
		if _, err := search.Run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%d faults: error %v; want %s", n, err, want)
		}
	}
	search.MaxFaults = hunt.MostFaults
	if found, err := search.Run(t.Context()); err != nil || found.Runs != 3 {
		t.Errorf("%d faults: %+v, error %v; want 3 runs", hunt.MostFaults, found, err)
	}
}

// TestHuntWithoutFaults: seeds and orders differ, and no plan has a fault.
func TestHuntWithoutFaults(t *testing.T) {
	search := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 2, Rounds: 1},
		NoFaults: true, Runs: 60,
		Keep: func(o *scenario.Outcome) error {
			check.Equal(t, len(o.Scenario.Plan), 0)
			return nil
		},
	}
	found, err := search.Run(t.Context())
	check.OK(t, err)
	check.Equal(t, found.Runs, 60)
	if found.Traces < 30 {
		t.Errorf("%d traces; want most of them different", found.Traces)
	}
}

// TestHuntStopsWhenTold: a generation that has been played, the first after the run
// without faults, is taken in to its end, and no other begins.
func TestHuntStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	search := hunt.Hunt{Workload: fuzztest.Builtin(t, "lock", ""),
		Script: scenario.Script{Clients: 1, Rounds: 1}, Runs: 100_000,
		Progress: func(f *hunt.Found) {
			if f.Runs == 5 {
				cancel()
			}
		}}
	found, err := search.Run(ctx)
	if !errors.Is(err, context.Canceled) || found == nil || found.Runs != 33 {
		t.Errorf("err %v, found %+v; want context.Canceled after 33 runs", err, found)
	}
}

// TestInterruptedGenerationIsTakenIn up to the first scenario that was not played, and
// with it the violation that it has found.
func TestInterruptedGenerationIsTakenIn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := fuzztest.Builtin(t, "lock", "zk.Lock")
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := judge(e)
		if r.Status() == linearizability.Violated {
			cancel()
		}
		return r, err
	}
	search := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1, Runs: 1000,
		Findings: 9, Workers: 1,
	}
	found, err := search.Run(ctx)
	if !errors.Is(err, context.Canceled) || found.First() == nil ||
		found.Runs != found.Findings[0].Runs {
		t.Errorf(
			"err %v, found %+v; want context.Canceled and the violation, as the last one", err,
			found,
		)
	}
}

// TestHuntGoesOnForMore: the finding stays what it is, and other violations are listed.
func TestHuntGoesOnForMore(t *testing.T) {
	search := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", "zk.Lock"), Script: scenario.DefaultScript, Seed: 1,
		Runs: 1000,
	}
	first, err := search.Run(t.Context())
	check.OK(t, err)
	search.More = 32
	found, err := search.Run(t.Context())
	check.OK(t, err)
	check.Equal(t, len(found.Findings), 1, "findings")
	check.Equal(t, found.Findings[0].Line(), first.Findings[0].Line(), "the finding")
	check.Equal(t, found.Runs, first.Runs, "scenarios up to it")
	if len(found.Others) == 0 {
		t.Error("nothing else was seen")
	}
	for _, other := range found.Others {
		check.Equal(t, hunt.Alike(other.Outcome, found.First()), false, "alike: %s", other.Line())
		if n := other.Runs - found.Runs; n < 1 || n > search.More {
			t.Errorf("seen %d scenarios after the finding; want 1 to %d", n, search.More)
		}
	}
}

// A hunt has tested nothing if no client has called, or if every call has failed.
func TestAHuntWithoutASuccessIsAnError(t *testing.T) {
	t.Parallel()
	for calls, want := range map[int]string{
		0: "no client has recorded a call in any of 3 runs, so there was nothing to judge: " +
			"record calls by Player.Do, Call or Begin, or say what must hold by an Invariant or a goal",
		1: "no walk has succeeded in any of 3 runs, so there was nothing to judge; " +
			"the last error of a call: no legs",
	} {
		found, err := hunt.Hunt{
			Workload: scenario.Workload{
				Name: "walker", Impl: "legless", Main: []string{"walk"},
				Play: func(p *scenario.Player, _ scenario.Script) {
					for range calls {
						_ = p.Do("breathe", "", func(context.Context) (r linearizability.Result, err error) {
							return r, nil
						})
						_ = p.Do("walk", "", func(context.Context) (r linearizability.Result, err error) {
							return r, errors.New("no legs")
						})
					}
				},
				Judge: func(scenario.Evidence) (r linearizability.Report, err error) {
					return r, nil
				},
			},
			Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1, Runs: 3,
		}.Run(t.Context())
		check.OK(t, err)
		if err := found.CheckJudged(); fmt.Sprint(err) != want {
			t.Errorf("%d calls: got %v; want %s", calls, err, want)
		}
	}
}

// TestMethodsThatWereNeverCalledAreListed: one tiny scenario does not call all optional methods of
// a queue, and more scenarios do.
func TestMethodsThatWereNeverCalledAreListed(t *testing.T) {
	t.Parallel()
	for runs, never := range map[int][]string{1: {"Poll"}, 200: nil} {
		found, err := hunt.Hunt{
			Workload: fuzztest.Builtin(t, "queue", ""), Script: scenario.Script{Clients: 1, Rounds: 1},
			Seed: 1,
			Runs: runs,
		}.Run(t.Context())
		check.OK(t, err)
		if got := found.NeverCalled(); !slices.Equal(got, never) {
			t.Errorf("%d scenarios: never called %q; want %q", found.Runs, got, never)
		}
	}
}
