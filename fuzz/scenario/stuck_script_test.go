package scenario_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// unseen is a workload with a script that ends in a way that no judge of calls can see.
func unseen(play func(p *scenario.Player)) scenario.Scenario {
	w := scenario.Workload{Name: "own", Impl: "unseen", Judge: scenario.Invariants(),
		Play: func(p *scenario.Player, _ scenario.Script) {
			err := p.Call("look", "", func(context.Context) error {
				_, _, err := p.Conn().Exists("/never")
				return err
			})
			if err == nil {
				play(p)
			}
		}}
	return scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1}
}

// awaitForEver waits for a watch that never fires.
func awaitForEver(p *scenario.Player) {
	_, _, changed, err := p.Conn().ExistsW("/never")
	if err == nil {
		<-changed
	}
}

// TestScriptThatHangsOutsideOfACallViolatesLiveness: no call is pending, so no judge of calls sees
// it. The story says where it hangs, equally in each run.
func TestScriptThatHangsOutsideOfACallViolatesLiveness(t *testing.T) {
	s := unseen(awaitForEver)
	o := run(t, s)
	want := "client a's script has not ended after 2m0s, although the faults stopped: " +
		"no call of its is under way, and it is at "
	if o.Property() != linearizability.Liveness || !strings.HasPrefix(o.Summary(), want) {
		t.Errorf("property %q, summary %q; want liveness, %q", o.Property(), o.Summary(), want)
	}
	if story := o.Story(); !strings.Contains(story, "where it hangs") ||
		!strings.Contains(story, "scenario_test.awaitForEver") || strings.Contains(story, "0x") {
		t.Errorf("the story:\n%s", story)
	}
	if again := run(t, s); again.Story() != o.Story() {
		t.Errorf("one run tells:\n%s\nanother:\n%s", o.Story(), again.Story())
	}
	fuzztest.Holds(t, unseen(func(*scenario.Player) {})) // a script that ends
}

// TestScriptThatHangsIsSeenWhateverTheJudge: here the judge has no verdict on liveness.
func TestScriptThatHangsIsSeenWhateverTheJudge(t *testing.T) {
	for name, play := range map[string]func(p *scenario.Player){
		"outside of a call": awaitForEver,
		"within a call":     func(p *scenario.Player) { p.Begin("wait", ""); awaitForEver(p) },
	} {
		s := unseen(play)
		s.Workload.Judge = func(scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Report{}, nil
		}
		if o := run(t, s); o.Property() != linearizability.Liveness {
			t.Errorf("%s: property %q, summary %q; want liveness", name, o.Property(), o.Summary())
		}
	}
}

// TestScriptThatEndsItsGoroutineIsAPanic: the rest of its work is never done.
func TestScriptThatEndsItsGoroutineIsAPanic(t *testing.T) {
	o := run(t, unseen(func(*scenario.Player) { runtime.Goexit() }))
	if o.Property() != "panic" ||
		!strings.Contains(o.Summary(), "ended its goroutine (runtime.Goexit, as t.Fatal does)") {
		t.Errorf("property %q, summary %q; want a panic", o.Property(), o.Summary())
	}
}
