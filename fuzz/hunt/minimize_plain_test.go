package hunt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// touches is a workload that is wrong when its judge says so.
func touches(wrong func(e scenario.Evidence) (bool, error)) scenario.Workload {
	return scenario.Workload{
		Name: "touch", Impl: "mine", About: "looks at a node", Shared: true,
		Play: func(p *scenario.Player, s scenario.Script) {
			for range s.Rounds {
				p.Persist(func(int) error {
					return p.Call("touch", "", func(context.Context) error {
						_, _, err := p.Conn().Exists("/touched")
						return err
					})
				})
			}
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			bad, err := wrong(e)
			status := linearizability.OK
			if bad {
				status = linearizability.Violated
			}
			return linearizability.Report{
				Verdicts: []linearizability.Verdict{
					{Property: scenario.InvariantProperty, Status: status, Summary: "wrong"},
				},
			}, err
		},
	}
}

func minimized(t *testing.T, s scenario.Scenario) scenario.Scenario {
	t.Helper()
	o := run(t, s)
	small, _, err := hunt.Minimize(t.Context(), o)
	check.OK(t, err)
	return small.Scenario
}

func hasKind(e scenario.Evidence, kinds ...fault.Kind) bool {
	return slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
		return slices.Contains(kinds, f.Kind)
	})
}

// plays reports whether a client has done anything.
func plays(e scenario.Evidence, client string) bool {
	return slices.ContainsFunc(e.History.Ops, func(op linearizability.Op) bool {
		return op.Client == client
	})
}

// TestMinimizeMakesPlain: irrelevant parts are gone or have round numbers in the end.
func TestMinimizeMakesPlain(t *testing.T) {
	t.Parallel()
	late := func(e scenario.Evidence) (bool, error) {
		return slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
			return f.Kind == fault.Expire && f.At > 2*time.Second
		}), nil
	}
	for _, c := range []struct {
		about string
		wrong func(e scenario.Evidence) (bool, error)
		from  []string
		want  string
	}{
		{"goroutines, careless script and a weaker kind", func(e scenario.Evidence) (bool, error) {
			return hasKind(e, fault.Delay, fault.Expire, fault.CutMidFrame), nil
		}, []string{"cut-mid-frame client=b request=3", "cut client=a request=2"},
			"clients: 1, rounds: 1, plan [delay 10ms client=a op=exists request=1]"},
		{
			"a time", late, []string{"expire client=b at=3.217s"},
			"clients: 1, rounds: 1, plan [expire client=a at=3s]",
		},
		{"a duration", func(e scenario.Evidence) (bool, error) {
			return slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
				return f.Kind == fault.Delay && f.For < time.Second
			}), nil
		}, []string{"delay 730ms client=b request=2"},
			"clients: 1, rounds: 1, plan [delay 10ms client=a op=exists request=1]"},
		{"a judge that knows nothing of one client", func(e scenario.Evidence) (bool, error) {
			if !plays(e, "b") {
				return false, errors.New("alone")
			}
			return hasKind(e, fault.Expire), nil
		}, []string{"expire client=c request=2"},
			"clients: 2, rounds: 1, plan [expire client=b op=exists request=1]"},
		{"no faults", func(e scenario.Evidence) (bool, error) {
			return plays(e, "b") || len(e.Plan) > 0, nil
		},
			nil, "clients: 2, rounds: 1, plan []"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			script := scenario.Script{Clients: testrun.Pick(2, 3), Rounds: 1}
			switch {
			case strings.Contains(strings.Join(c.from, ""), "client=c"):
				script.Clients = 3
			case len(c.from) > 1:
				script = scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3, Careless: true}
			}
			got := minimized(t, scenario.Scenario{
				Workload: touches(c.wrong), Script: script, Seed: 77, Plan: plan(t, c.from...),
			})
			if text := got.Script.String() + ", plan " + planText(got.Plan); text != c.want {
				t.Errorf("got %s; want %s", text, c.want)
			}
		})
	}
}

func planText(plan []fault.Fault) string {
	var lines []string
	for _, f := range plan {
		lines = append(lines, f.String())
	}
	return "[" + strings.Join(lines, " ") + "]"
}

// TestJudgeThatFailsIsToldWithTheScenario, in a hunt and in a sweep, be it by a panic.
func TestJudgeThatFailsIsToldWithTheScenario(t *testing.T) {
	t.Parallel()
	w := touches(func(e scenario.Evidence) (bool, error) {
		switch {
		case hasKind(e, fault.DropReply):
			panic("index out of hand")
		case hasKind(e, fault.Expire):
			return false, errors.New("index out of hand")
		}
		return false, nil
	})
	script := scenario.Script{Clients: 1, Rounds: 1}
	_, swept := hunt.RunSweep(
		t.Context(), scenario.Scenario{Workload: w, Script: script, Seed: 1}, hunt.Part{}, nil,
	)
	_, hunted := hunt.Hunt{Workload: w, Script: script, Seed: 1, Runs: 100}.Run(t.Context())
	for _, err := range []error{swept, hunted} {
		if err == nil ||
			!strings.Contains(err.Error(), "touch mine, clients: 1, rounds: 1, seed: 1, plan [") ||
			!strings.Contains(err.Error(), "index out of hand") {
			t.Errorf("got %v; want the scenario and what went wrong", err)
		}
	}
}

// TestPairsNeedTwoFaults: with one at most there are none.
func TestPairsNeedTwoFaults(t *testing.T) {
	t.Parallel()
	hunt := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 1, Rounds: 1},
		Strategies: []string{"pairs"}, MaxFaults: 1, Runs: 20,
	}
	found, err := hunt.Run(t.Context())
	if err != nil || found.Runs != 1 || !found.Exhausted {
		t.Errorf("%d runs, exhausted: %v, error: %v; want one run and nothing more to try",
			found.Runs, found.Exhausted, err)
	}
}

func TestFindingsThatDifferInTimesAreOne(t *testing.T) {
	t.Parallel()
	w := touches(nil)
	n := 0
	w.Judge = func(scenario.Evidence) (linearizability.Report, error) {
		n++
		summary := "client a waited for " + (time.Duration(n*n*n) * 977 * time.Microsecond).String()
		return linearizability.Report{
			Verdicts: []linearizability.Verdict{
				{Property: "liveness", Status: linearizability.Violated, Summary: summary},
			},
		}, nil
	}
	found, err := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Runs: 40,
		Findings: 9, Workers: 1,
	}.Run(t.Context())
	if err != nil || len(found.Findings) != 1 || found.Runs != 40 {
		t.Errorf("%d findings in %d runs, error %v; want 1 in 40", len(found.Findings),
			found.Runs, err)
	}
}
