package fuzz

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Flags of a test binary that uses this package. Give them to go test.
var (
	flagRuns       = flag.Int("zksim.runs", 300, "zksim: number of random scenarios to try in each test, 1 at least")
	flagSeed       = flag.Uint64("zksim.seed", 1, "zksim: seed of the random scenarios")
	flagGoroutines = flag.Int("zksim.goroutines", 1, "zksim: goroutines of each client that share one object")
	flagCareless   = flag.Bool("zksim.careless", false, "zksim: clients close objects in use, call with done contexts and try before they wait")
	flagReplay     = flag.String("zksim.replay", "", "zksim: scenario file to replay instead of searching")
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Test tests a workload, be it of a kind that this package has never heard of, as
// TestLock does. It also fails if one of the workload's goals ([Workload.Sometimes])
// was reached in no run, and if there was nothing to judge: no client has recorded
// a call, and the workload has neither goals nor a judge with verdicts of its own,
// such as that of [Invariants].
func Test(t TB, w scenario.Workload) {
	t.Helper()
	w.Impl = cmp.Or(w.Impl, t.Name())
	script, err := flaggedScript(w)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	if *flagReplay != "" {
		replay(t, w)
		return
	}
	trySaved(t, w)
	var seen hunt.Witness
	ctx, s := context.Background(), scenario.Scenario{Workload: seen.Watch(w), Script: script, Seed: *flagSeed}
	sweep, err := hunt.RunSweep(ctx, s, nil)
	if err != nil {
		t.Fatalf("zksim: sweep: %v", err)
	}
	if len(sweep.Violations) > 0 {
		fail(ctx, t, sweep.Violations[0].First)
	}
	demand(t, &seen, w, sweep.Points+1)
	hunt := hunt.Hunt{Workload: s.Workload, Script: script, Seed: *flagSeed, Runs: *flagRuns, CheckDeterminism: true}
	found, err := hunt.Run(ctx)
	switch {
	case err != nil:
		t.Fatalf("zksim: %v", err)
	case found.First() != nil:
		fail(ctx, t, found.First(), found.Divergences...)
	case len(found.Divergences) > 0:
		t.Fatalf("zksim: %s", diverged(found.Divergences[0]))
	}
	checkGoals(t, w, sweep, found)
	undecided := sweep.Undecided + found.Undecided
	if undecided == sweep.Points+found.Runs {
		t.Fatalf("zksim: nothing could be decided in any of %d runs: %s", undecided, sweep.Base.Report.First().Summary)
	}
	t.Logf("zksim: survived %d of %d fault points and %d other scenarios (%d undecided)",
		sweep.Survived, sweep.Points, found.Runs, undecided)
}

// diverged is what is said of a scenario whose runs are not the same.
func diverged(s scenario.Scenario) string {
	return fmt.Sprintf("two runs of one seed differ; does the code share state between runs, or use math/rand or map order? The scenario is: %s, plan %v", s, s.Plan)
}

// demand fails if there was nothing to judge in so many runs.
func demand(t TB, n *hunt.Witness, w scenario.Workload, runs int) {
	t.Helper()
	if err := n.Err(w, runs); err != nil {
		t.Fatalf("zksim: %v", err)
	}
}

// flaggedScript is the script of a test as the flags will have it, or what is wrong
// with the flags.
func flaggedScript(w scenario.Workload) (scenario.Script, error) {
	s := scenario.DefaultScript
	if testing.Short() {
		s = scenario.Script{Clients: 2, Rounds: 1}
	}
	s.Goroutines, s.Careless = *flagGoroutines, *flagCareless
	switch {
	case *flagRuns < 1:
		return s, fmt.Errorf("-zksim.runs=%d; expected 1 or more", *flagRuns)
	case s.Goroutines < 1 || s.Goroutines > scenario.MaxGoroutines:
		return s, fmt.Errorf("-zksim.goroutines=%d; expected 1 to %d", s.Goroutines, scenario.MaxGoroutines)
	case s.Goroutines > 1 && !w.Shared:
		return s, fmt.Errorf("-zksim.goroutines=%d; expected 1: an object of %s %s is not used by several goroutines; "+
			"if it may be, give Run its workload with Shared set", s.Goroutines, w.Name, w.Impl)
	}
	return s, nil
}

// checkGoals fails for goals that no run has reached: what the test seems to try,
// it does not.
func checkGoals(t TB, w scenario.Workload, sweep *hunt.Sweep, found *hunt.Found) {
	t.Helper()
	var missed []string
	for _, goal := range w.Sometimes {
		if sweep.Reached[goal]+found.Reached[goal] == 0 && !slices.Contains(sweep.Base.Reached, goal) {
			missed = append(missed, fmt.Sprintf("%q", goal))
		}
	}
	runs := 1 + sweep.Points + found.Runs
	switch len(missed) {
	case 0:
	case 1:
		t.Fatalf("zksim: the goal %s was reached in none of %d runs", missed[0], runs)
	default:
		t.Fatalf("zksim: the goals %s were reached in none of %d runs", strings.Join(missed, ", "), runs)
	}
}

// fail makes the violation small, saves it and tells of it, and of scenarios that were
// seen to diverge besides.
func fail(ctx context.Context, t TB, o *scenario.Outcome, diverging ...scenario.Scenario) {
	t.Helper()
	small, err := hunt.Minimize(ctx, o)
	if err != nil {
		t.Fatalf("zksim: %v\n\n%s", err, o.Story())
	}
	story := small.Story()
	if small.Result.Frozen != "" {
		story += "\nthe goroutines when it was given up:\n\n" + small.FrozenStacks() + "\n"
	}
	if !small.Steady() {
		t.Fatalf("%s\nzksim: %s is violated, but not each time: %s", story, small.Property(), diverged(small.Scenario))
	}
	if len(diverging) > 0 {
		story += "\nzksim: besides, in another scenario: " + diverged(diverging[0]) + "\n"
	}
	t.Fatalf("%s\n%s", story, saveFailure(t, small))
}
