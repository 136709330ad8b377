package scenario_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// drawScripts are the scripts with which the labels of draws are compared. Without -full only
// the careless ones, which draw most, are played.
var drawScripts = []scenario.Script{
	{Clients: 3, Rounds: 4},
	{Clients: 2, Rounds: 3, Goroutines: 3},
	{Clients: 3, Rounds: 4, Careless: true},
	{Clients: 2, Rounds: 3, Goroutines: 3, Careless: true},
}

// TestLabelsOfDrawsAreDistinct: no two decisions of a built-in workload share a label.
func TestLabelsOfDrawsAreDistinct(t *testing.T) {
	for _, w := range builtin.Workloads() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			for _, script := range testrun.Pick(drawScripts[2:], drawScripts) {
				if script.Goroutines > 1 && !w.Concurrent(script) {
					continue
				}
				for _, problem := range sharedLabels(t, w, script) {
					t.Errorf("%s: %s", script, problem)
				}
			}
		})
	}
}

// TestSharedLabelsAreFound is the negative control.
func TestSharedLabelsAreFound(t *testing.T) {
	for _, c := range []struct {
		want string
		play func(p *scenario.Player, round int)
	}{
		{"", func(p *scenario.Player, round int) {
			p.Choose(scenario.At("kind", round), 2)
			p.Choose(scenario.At("time", round), 2)
		}},
		{"drawn twice", func(p *scenario.Player, round int) {
			p.Choose("kind", 2)
		}},
		{"drawn in two places", func(p *scenario.Player, round int) {
			if round == 0 {
				p.Choose("kind", 2)
			} else {
				p.Choose(scenario.At("kind", round-1), 2)
				p.Choose(scenario.At("kind", round), 2)
			}
		}},
		{"drawn of 2 and of 3", func(p *scenario.Player, round int) {
			p.Choose(scenario.At("kind", round), 2+p.Index())
		}},
		{"drawn in two places", func(p *scenario.Player, round int) {
			p.Hold(scenario.At("hold", round), nil)
			p.Choose(scenario.At("hold", round)+" time", 40)
		}},
	} {
		w := scenario.Workload{Name: "own", Impl: "mine", Judge: scenario.Invariants(),
			Play: func(p *scenario.Player, s scenario.Script) {
				for round := range s.Rounds {
					c.play(p, round)
				}
			}}
		problems := strings.Join(sharedLabels(t, w, scenario.Script{Clients: 2, Rounds: 3}), "\n")
		if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
			t.Errorf("found %q; want %q", problems, c.want)
		}
	}
}

// drawing is a decision as it was drawn first.
type drawing struct {
	n    int
	site string
}

// sharedLabels plays a workload with some seeds and faults, and tells which labels were
// drawn twice by one goroutine in a run, in two places, or of two ranges.
func sharedLabels(t *testing.T, w scenario.Workload, script scenario.Script) []string {
	var (
		mu       sync.Mutex
		problems []string
	)
	known := map[string]drawing{}
	for seed := range testrun.Pick(uint64(2), 6) { // one of them without faults
		drawn := map[string]bool{} // in this run: goroutine and label
		s := scenario.Scenario{Workload: w, Script: script, Seed: seed, Plan: drawPlan(t, seed)}
		_, err := s.Recording(func(player, label string, n int) {
			mu.Lock()
			defer mu.Unlock()
			now := drawing{n, site()}
			first, seen := known[label]
			known[label] = now
			if key := player + " " + label; drawn[key] {
				problems = append(problems,
					fmt.Sprintf("%s drawn twice by %s, at\n%s", label, player, now.site))
			} else {
				drawn[key] = true
			}
			switch {
			case seen && first.n != n:
				problems = append(problems,
					fmt.Sprintf("%s drawn of %d and of %d", label, first.n, n))
			case seen && first.site != now.site:
				problems = append(problems,
					fmt.Sprintf("%s drawn in two places:\n%s\nand\n%s", label, first.site,
						now.site))
			}
		}).Run()
		check.OK(t, err)
	}
	return problems
}

// drawPlan makes some calls fail, so that they are tried again.
func drawPlan(t *testing.T, seed uint64) []fault.Fault {
	var plan []fault.Fault
	if seed%3 == 0 {
		return nil
	}
	for _, text := range []string{
		fmt.Sprintf("expire client=a request=%d", 2+seed), fmt.Sprintf("cut client=b request=%d",
			3+2*seed),
	} {
		f, err := fault.Parse(text)
		check.OK(t, err)
		plan = append(plan, f)
	}
	return plan
}

// site is where a draw is made: the calls that lead to it from the workload's Play.
func site() string {
	var text strings.Builder
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.Contains(f.Function, "scenario.Scenario.world") ||
			strings.Contains(f.Function, "scenario.(*Player).goroutines") {
			break
		}
		fmt.Fprintf(&text, "\t%s:%d\n", f.Function, f.Line)
	}
	return text.String()
}
