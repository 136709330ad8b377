package hunt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// wary is a workload whose clients look whether anybody has claimed something, and
// claim it if not. It is violated if two do: a race that needs no fault.
func wary() scenario.Workload {
	return scenario.Workload{
		Name: "wary", Impl: "looks, then claims",
		Play: func(p *scenario.Player, _ scenario.Script) {
			err := p.Do("claim", "", func(context.Context) (linearizability.Result, error) {
				names, _, err := p.Conn().Children("/")
				if err != nil || slices.ContainsFunc(names, func(name string) bool {
					return strings.HasPrefix(name, "claim-")
				}) {
					return linearizability.Result{Empty: true}, err
				}
				_, err = p.Conn().Create("/claim-"+p.Name(), nil, 0, zk.WorldACL(zk.PermAll))
				return linearizability.Result{}, err
			})
			_ = err // recorded
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			claims := 0
			for _, ev := range e.History.Server {
				if ev.Kind == linearizability.NodeCreated && strings.HasPrefix(ev.Path, "/claim-") {
					claims++
				}
			}
			v := linearizability.Verdict{
				Property: linearizability.Safety, Summary: fmt.Sprintf("%d claims", claims),
			}
			if claims > 1 {
				v.Status = linearizability.Violated
			}
			return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
		},
	}
}

// TestEveryStrategyFinds: each finds a bug alone, and the same one again.
func TestEveryStrategyFinds(t *testing.T) {
	t.Parallel()
	for _, info := range hunt.Strategies() {
		w, property := fuzztest.Builtin(t, "queue", "recipes.ApacheQueue"), linearizability.Delivery
		if info.Name == "orders" {
			w, property = wary(), linearizability.Safety
		}
		search := hunt.Hunt{
			Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1},
			Counts: func(o *scenario.Outcome) bool {
				return breaks(o, property)
			}, Strategies: []string{info.Name}, Seed: 2, Runs: 2000,
		}
		var first *hunt.Found
		for _, workers := range testrun.Pick([]int{1, 3}, []int{1, 3, 8}) {
			search.Workers = workers
			found, err := search.Run(t.Context())
			check.OK(t, err)
			if found.First() == nil {
				t.Fatalf("%s finds nothing in %d runs", info.Name, found.Runs)
			}
			if first == nil {
				first = found
				t.Logf("%s: %d scenarios", info.Name, found.Runs)
			}
			if found.Runs != first.Runs || found.Behaviours != first.Behaviours ||
				found.Traces != first.Traces ||
				found.First().Result.Trace.Hash() != first.First().Result.Trace.Hash() {
				t.Errorf("%s: %d workers find another violation, or after %d runs instead of %d",
					info.Name, workers, found.Runs, first.Runs)
			}
		}
	}
}

// TestOrdersSkipWhatCommutes: two requests of each of two clients have six orders if
// all of them touch, and need one if none do.
func TestOrdersSkipWhatCommutes(t *testing.T) {
	t.Parallel()
	runs := map[string]int{}
	for _, c := range []struct {
		name   string
		path   func(*scenario.Player) string
		traces int
	}{
		{"the same node", func(*scenario.Player) string { return "/node" }, 6},
		{"a node each", func(p *scenario.Player) string { return "/" + p.Name() }, 1},
	} {
		w := scenario.Workload{
			Name: "writers", Impl: c.name,
			Play: func(p *scenario.Player, _ scenario.Script) {
				for range 2 {
					_, err := p.Conn().Set(c.path(p), nil, -1)
					_ = err // there is no such node
				}
			},
			Judge: func(scenario.Evidence) (linearizability.Report, error) {
				return linearizability.Report{}, nil
			},
		}
		search := hunt.Hunt{
			Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1},
			Strategies: []string{"orders"}, Runs: 20_000,
		}
		found, err := search.Run(t.Context())
		check.OK(t, err)
		if !found.Exhausted || found.Traces < c.traces {
			t.Errorf("%s: %d traces in %d runs (exhausted: %v); expected at least %d", c.name,
				found.Traces, found.Runs, found.Exhausted, c.traces)
		}
		runs[c.name] = found.Runs
	}
	if runs["a node each"] >= runs["the same node"] {
		t.Errorf("runs: %v; expected fewer for independent writers", runs)
	}
}

// keeping is a search that keeps the scenarios with new behaviour.
func keeping(t *testing.T, runs int) (search hunt.Hunt, kept *[]scenario.Scenario) {
	t.Helper()
	kept = new([]scenario.Scenario)
	return hunt.Hunt{Workload: fuzztest.Builtin(t, "lock", ""),
		Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1, Runs: runs,
		Keep: func(o *scenario.Outcome) error {
			*kept = append(*kept, o.Scenario)
			return nil
		}}, kept
}

// TestHuntGoesOnFromItsCorpus: the kept scenarios show most behaviours in fewer runs. All of them
// are played, whatever Runs is, and then as many others as Runs.
func TestHuntGoesOnFromItsCorpus(t *testing.T) {
	t.Parallel()
	search, kept := keeping(t, testrun.Pick(80, 400))
	first, err := search.Run(t.Context())
	check.OK(t, err)
	behaviours := 0 // shown when the corpus has been played
	search.Corpus, search.Runs, search.Keep = *kept, 5, nil
	search.Progress = func(f *hunt.Found) {
		if f.Runs == 0 {
			behaviours = f.Behaviours
		}
	}
	second, err := search.Run(t.Context())
	check.OK(t, err)
	if len(*kept) == 0 || len(*kept) >= first.Runs || behaviours < first.Behaviours {
		t.Errorf("%d of %d scenarios kept; they show %d of %d behaviours", len(*kept), first.Runs,
			behaviours, first.Behaviours)
	}
	if second.Replayed != len(*kept) || second.Runs != 5 {
		t.Errorf("%d scenarios replayed and %d tried; want all %d, and 5", second.Replayed,
			second.Runs, len(*kept))
	}
}

// TestResumedHuntGoesElsewhere than the one that has collected its corpus, though the
// seed is the same, and always to the same place.
func TestResumedHuntGoesElsewhere(t *testing.T) {
	t.Parallel()
	search, kept := keeping(t, testrun.Pick(60, 200))
	if _, err := search.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	search.Corpus = slices.Clone(*kept)
	var resumed []*hunt.Found
	for _, workers := range testrun.Pick([]int{1, 3}, []int{1, 3, 0}) {
		search.Workers = workers
		found, err := search.Run(t.Context())
		check.OK(t, err)
		resumed = append(resumed, found)
	}
	first := resumed[0]
	for _, again := range resumed[1:] {
		if again.Traces != first.Traces || again.Behaviours != first.Behaviours {
			t.Errorf("%d traces and %d behaviours, then %d and %d", first.Traces, first.Behaviours,
				again.Traces, again.Behaviours)
		}
	}
	if fresh := first.Traces - len(search.Corpus); fresh*2 < search.Runs {
		t.Errorf("%d of %d scenarios had an order of their own", fresh, search.Runs)
	}
}

func TestHuntRefusesUnknownStrategies(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{
			[]string{"luck"},
			`unknown strategy "luck"; expected one of sweep, `,
		},
		{[]string{"swep"}, `unknown strategy "swep" (did you mean sweep?); expected one of sweep, `},
		{[]string{"sweep", "sweep"}, `strategy "sweep" is given twice`},
	} {
		search := hunt.Hunt{
			Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.DefaultScript,
			Strategies: c.names, Runs: 1,
		}
		if _, err := search.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; expected %s", c.names, err, c.want)
		}
	}
}

// TestCoverageStrikesClientsThatThereAre in a scenario that has fewer than the hunt.
func TestCoverageStrikesClientsThatThereAre(t *testing.T) {
	t.Parallel()
	w := fuzztest.Builtin(t, "lock", "recipes.Lock")
	search := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 3, Rounds: 1},
		Strategies: []string{"coverage"}, Seed: 5, Runs: 100,
		// Those of a whole generation, so that nothing else is known when the strategy
		// begins.
		Corpus: slices.Repeat(
			[]scenario.Scenario{
				{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 5},
			}, 32,
		),
	}
	if found, err := search.Run(t.Context()); err != nil || found.Runs != search.Runs {
		t.Errorf("%d runs, %v", found.Runs, err)
	}
}

// TestPrioritiesStarveNoClientForEver: a client that repeats a request does not stop another
// client.
func TestPrioritiesStarveNoClientForEver(t *testing.T) {
	t.Parallel()
	w := scenario.Workload{
		Name: "poll", Impl: "poller", Judge: scenario.Invariants(),
		Play: func(p *scenario.Player, _ scenario.Script) {
			if err := p.Call("wait", "", func(context.Context) error {
				if p.Index() == 1 {
					_, err := p.Conn().Create("/go", nil, 0, zk.WorldACL(zk.PermAll))
					return err
				}
				for p.Context().Err() == nil {
					if ok, _, err := p.Conn().Exists("/go"); ok || err != nil {
						return err
					}
				}
				return p.Context().Err()
			}); err != nil && p.Context().Err() == nil {
				t.Error(err)
			}
		},
	}
	for seed := uint64(1); seed <= 20; seed++ {
		o := run(t, scenario.Scenario{
			Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: seed,
			Schedule: sim.Schedule{Kind: sim.Priorities},
		})
		if o.Property() != "" {
			t.Errorf("seed %d: %s", seed, o.Summary())
		}
	}
}
