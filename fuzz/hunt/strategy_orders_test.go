package hunt_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestOrdersMissNothing: the orders that the strategy leaves out lead to no new outcome. The
// outcomes of all orders are found by trying them one by one.
func TestOrdersMissNothing(t *testing.T) {
	t.Parallel()
	type race struct {
		name string
		do   func(*scenario.Player) error
		see  func(*scenario.Player) (string, error)
	}
	races := []race{
		{
			name: "a sequential node",
			do: func(p *scenario.Player) error {
				_, err := p.Conn().Create("/d/n-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
				return err
			},
			see: func(p *scenario.Player) (string, error) {
				ok, _, err := p.Conn().Exists("/d/n-0000000000")
				return fmt.Sprint(ok), err
			},
		},
		{
			name: "the order of children",
			do: func(p *scenario.Player) error {
				_, err := p.Conn().Set("/a", nil, -1)
				return err
			},
			see: func(p *scenario.Player) (string, error) {
				names, _, err := p.Conn().Children("/many")
				return strings.Join(names, ","), err
			},
		},
		{
			name: "a plain node",
			do: func(p *scenario.Player) error {
				_, err := p.Conn().Create("/d/n", nil, 0, zk.WorldACL(zk.PermAll))
				return err
			},
			see: func(p *scenario.Player) (string, error) {
				ok, _, err := p.Conn().Exists("/d/n")
				return fmt.Sprint(ok), err
			},
		},
	}
	for _, c := range testrun.Pick(races[:1], races) {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			w := scenario.Workload{
				Name: "tiny", Impl: c.name,
				Nodes: map[string]string{
					"/d": "", "/a": "", "/q": "old", "/many/1": "", "/many/2": "", "/many/3": "",
				},
				Play: func(p *scenario.Player, _ scenario.Script) {
					if err := p.Do("op", "", func(context.Context) (linearizability.Result, error) {
						if p.Index() == 0 {
							if err := c.do(p); err != nil {
								return linearizability.Result{}, err
							}
							_, err := p.Conn().Set("/q", []byte("new"), -1)
							return linearizability.Result{}, err
						}
						what, err := c.see(p)
						if err != nil {
							return linearizability.Result{}, err
						}
						q, _, err := p.Conn().Get("/q")
						return linearizability.Result{Output: what + " " + string(q)}, err
					}); err != nil {
						t.Error(err)
					}
				},
				Judge: func(e scenario.Evidence) (linearizability.Report, error) {
					seen[e.History.Ops[1].Output] = true
					return linearizability.Report{}, nil
				},
			}
			script := scenario.Script{Clients: 2, Rounds: 1}
			found, err := hunt.Hunt{
				Workload: w, Script: script, Strategies: []string{"orders"},
				Runs: 20_000, Workers: 1,
			}.Run(t.Context())
			if err != nil || !found.Exhausted {
				t.Fatalf("exhausted: %v, %v", found.Exhausted, err)
			}
			// and the outcome of the run with latencies, which begins a hunt
			some := maps.Clone(seen)
			clear(seen)
			everyOrder(t, scenario.Scenario{Workload: w, Script: script})
			for outcome := range seen {
				if !some[outcome] {
					t.Errorf("%q is not seen in %d orders", outcome, found.Runs)
				}
			}
			if len(seen) < 2 {
				t.Errorf("all orders have one outcome: %v", seen)
			}
		})
	}
}

// everyOrder runs a scenario with all choices there are.
func everyOrder(t *testing.T, s scenario.Scenario) {
	t.Helper()
	open := [][]int{nil}
	for runs := 0; len(open) > 0; runs++ {
		if runs > 6000 {
			t.Fatal("no end of choices")
		}
		numbers := open[len(open)-1]
		open = open[:len(open)-1]
		s.Schedule = sim.Schedule{Kind: sim.Choices, Numbers: numbers}
		way := slices.Clone(numbers)
		decisions := run(t, s).Result.Decisions
		for i := len(numbers); i < len(decisions); i++ {
			for n := 1; n < len(decisions[i].Candidates); n++ {
				open = append(open, append(slices.Clone(way), n))
			}
			way = append(way, 0)
		}
	}
}
