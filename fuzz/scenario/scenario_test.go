package scenario_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestStories: the text of a failure, word for word. After a deliberate change run it with -update
// and read the difference.
func TestStories(t *testing.T) {
	for _, name := range []string{"zk-lock-waits-for-itself", "apache-queue-loses-an-element"} {
		t.Run(name, func(t *testing.T) {
			file, err := saved.Load(
				filepath.Join("..", "builtin", "testdata", "scenarios", name+".yaml"),
				builtin.Workloads().Find,
			)
			check.OK(t, err)
			got := run(t, file.Scenario).Story()
			golden := filepath.Join("testdata", "stories", name+".txt")
			testrun.Golden(t, golden, got)
		})
	}
}

// TestLongStoriesAreCutInTheMiddle, with the number of lines left out and the
// way to see them.
func TestLongStoriesAreCutInTheMiddle(t *testing.T) {
	o := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 4, Rounds: 4}, Seed: 1,
	})
	story := o.Story()
	if !strings.HasPrefix(story, "verdict: ok\n") || !strings.Contains(story, "  no faults\n") {
		t.Errorf("no verdict, or no word on faults:\n%s", story)
	}
	if !strings.Contains(story, "more lines of the trace") || strings.Count(story, "\n") > 75 {
		t.Errorf("%d lines:\n%s", strings.Count(story, "\n"), story)
	}
}

// TestVerdictsNameTheirProperties in the names of the trace.
func TestVerdictsNameTheirProperties(t *testing.T) {
	o := run(t, scenario.Scenario{Workload: fuzztest.Builtin(t, "lock", "zk.Lock"),
		Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
		Plan: plan(t, "drop-request client=a op=getChildren2 request=1")})
	got := map[string]linearizability.Status{}
	for _, v := range o.Verdicts() {
		got[v.Property] = v.Status
		if v.Property == linearizability.Liveness &&
			!strings.Contains(v.Summary, "/lock/_c_G2-lock-0000000000") {
			t.Errorf("the summary does not name the znode as the trace does: %s", v.Summary)
		}
	}
	for _, property := range []string{
		linearizability.Safety, linearizability.Belief, linearizability.Linearizability,
	} {
		if status, judged := got[property]; !judged || status != linearizability.OK {
			t.Errorf("%s: judged %v, %s; want ok", property, judged, status)
		}
	}
	if got[linearizability.Liveness] != linearizability.Violated ||
		o.Property() != linearizability.Liveness || o.Status() != linearizability.Violated {
		t.Errorf("verdicts %v, property %q, status %s; want a violation of liveness", got,
			o.Property(), o.Status())
	}
}

// TestMeasurementsTellOfZombiesHerdAndWaits: a holder with an expired session cannot know it at
// once.
func TestMeasurementsTellOfZombiesHerdAndWaits(t *testing.T) {
	o := run(t, scenario.Scenario{Workload: fuzztest.Builtin(t, "lock", ""),
		Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
		Plan: plan(t, "expire client=b at=30ms")})
	if o.Property() != "" || len(o.Report.ZombieWindows) != 1 {
		t.Fatalf("property %q, zombie windows %v; want none violated and one window", o.Property(),
			o.Report.ZombieWindows)
	}
	got := strings.Join(o.Measurements(), "\n")
	for _, want := range []string{
		"zombie window: b could not know for ", "herd: at most 1 watch notifications per release",
		"waits: 2 granted, the longest took ",
	} {
		check.Contains(t, got, want)
	}
}

// TestARunOutOfStepsIsCutShort: its end is unknown, and the summary says how far it came.
func TestARunOutOfStepsIsCutShort(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a million steps take seconds and half a gigabyte; with -full")
	}
	o := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", "recipes.Lock"),
		Script:   scenario.Script{Clients: 8, Rounds: 1}, Seed: 1,
		Plan: plan(t, "refuse 24h client=a request=1"),
	})
	v, _ := o.Report.Verdict(linearizability.Liveness)
	if !o.CutShort || o.Status() != linearizability.Unknown ||
		!strings.Contains(v.Summary, "cut short after 1000001 steps and 14h") {
		t.Errorf("cut short %v, %s: %s", o.CutShort, o.Status(), v.Summary)
	}
}

// TestInvariantThatPanicsIsNamed, with the place of the panic.
func TestInvariantThatPanicsIsNamed(t *testing.T) {
	s := unseen(func(*scenario.Player) {})
	s.Workload.Judge = scenario.Invariants(scenario.Invariant{
		Name:  "nothing is lost",
		Holds: func(scenario.Evidence) error { return derefNil(t.Context()) },
	})
	_, err := s.Run()
	if err == nil || !strings.Contains(err.Error(), `the invariant "nothing is lost" panics: `) ||
		!strings.Contains(err.Error(), "scenario_test.derefNil") {
		t.Errorf("error %v; want the invariant and the place", err)
	}
}
