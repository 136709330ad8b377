package fuzz

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// failing is a test that keeps the text of its failure.
type failing struct{ text string }

func (*failing) Helper()             {}
func (*failing) Name() string        { return "TestMine" }
func (*failing) Logf(string, ...any) {}
func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is the text of a failed test, "" if it passes.
func failure(test func(TB)) string {
	var f failing
	var group sync.WaitGroup
	group.Go(func() { test(&f) })
	group.Wait()
	return f.text
}

// TestFrozenRunsAreNotRepeated: each would take as long as the first.
func TestFrozenRunsAreNotRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	var plays atomic.Int64
	w := scenario.Workload{
		Name: "own", Impl: "freezes", Judge: scenario.Invariants(),
		Play: func(*scenario.Player, scenario.Script) { plays.Add(1) },
	}
	o, err := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
	}.Run()
	check.OK(t, err)
	o.Result.Frozen = "goroutine 7 [running]:\nmylock.spin()\n\t/src/mylock.go:7 +0x1\n\n" +
		"goroutine 8 [select (durable)]:\nzk.loop()\n\t/zk/conn.go:8 +0x1"
	o.Result.Spins = true
	text := failure(func(tb TB) { fail(t.Context(), tb, o, nil) })
	check.Equal(t, plays.Load(), 1, "played")
	if !strings.Contains(text, "frozen is violated") ||
		!strings.Contains(text, "/src/mylock.go:7") || strings.Contains(text, "zk.loop") {
		t.Errorf("failed with:\n%s", text)
	}
}

// TestViolationComesBeforeADivergence of another scenario; the failure has both.
func TestViolationComesBeforeADivergence(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs atomic.Int64
	both := func(violates, diverges bool) scenario.Workload {
		return scenario.Workload{Name: "own", Impl: "TestMine",
			Play: func(p *scenario.Player, _ scenario.Script) {
				drawn := p.Agree("number", 8)
				call := p.Begin("draw", fmt.Sprint(drawn))
				if diverges && drawn == 1 {
					call.OK(linearizability.Result{Output: fmt.Sprint(runs.Add(1))})
				} else {
					call.OK(linearizability.Result{})
				}
			},
			Judge: scenario.Invariants(scenario.Invariant{Name: "never 2",
				Holds: func(e scenario.Evidence) error {
					for _, op := range e.History.Ops {
						if violates && op.Input == "2" {
							return fmt.Errorf("it is")
						}
					}
					return nil
				}}),
		}
	}
	const violation, divergence = "invariant is violated: never 2", "two runs of one seed differ"
	for _, c := range []struct{ violates, diverges bool }{
		{true, true}, {true, false}, {false, true},
	} {
		text := failure(func(tb TB) { Test(tb, both(c.violates, c.diverges)) })
		if strings.HasPrefix(text, violation) != c.violates ||
			strings.Contains(text, divergence) != c.diverges ||
			strings.Contains(text, "not each time") {
			t.Errorf("violates: %v, diverges: %v; failed with:\n%s", c.violates, c.diverges, text)
		}
	}
}

// TestADivergenceCanBePlayedAgain: its scenario is saved, and the replay tells that it differs.
func TestADivergenceCanBePlayedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs atomic.Int64
	w := scenario.Workload{Name: "own", Impl: "TestMine",
		Play: func(p *scenario.Player, _ scenario.Script) {
			p.Begin("draw", "").OK(linearizability.Result{Output: fmt.Sprint(runs.Add(1))})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "always",
			Holds: func(scenario.Evidence) error { return nil }}),
	}
	text := failure(func(tb TB) { Test(tb, w) })
	file := regexp.MustCompile(`to play it again, several times: .*-zksim\.replay=(\S+)`).
		FindStringSubmatch(text)
	if file == nil {
		t.Fatalf("failed with:\n%s", text)
	}
	*flagReplay = file[1]
	defer func() { *flagReplay = "" }()
	text = failure(func(tb TB) { Test(tb, w) })
	check.Contains(t, text, "two runs of one seed differ")
}

// TestAFailureSaysWhereItWasFound, if that was in the hunt.
func TestAFailureSaysWhereItWasFound(t *testing.T) {
	t.Chdir(t.TempDir())
	w := scenario.Workload{Name: "own", Impl: "TestMine",
		Play: func(p *scenario.Player, _ scenario.Script) {
			_ = p.Call("look", "", func(context.Context) error {
				_, _, err := p.Conn().Exists("/x")
				return err
			})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "never",
			Holds: func(e scenario.Evidence) error {
				if len(e.Plan) > 1 {
					return errors.New("it is")
				}
				return nil
			}}),
	}
	text := failure(func(tb TB) { Test(tb, w) })
	check.Contains(t, text, "zksim: found in scenario ")
	check.Contains(t, text, " of 300, by ")
	check.Contains(t, text, ", in the hunt of seed 1\n")
}
