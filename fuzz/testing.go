package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/internal/ballast"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Test tests a workload, which package object makes of your code: without faults, with every single
// fault at every protocol step, and with the proposals of several strategies. It fails if a
// property is violated, with the story of the smallest scenario that shows it, and saves that
// scenario.
//
// With addresses as -zksim.servers all of this is played on a running ensemble, but for the single
// faults; see docs/real.md.
//
// It also fails if more than one scenario in twenty differs from its repetition: the code is not
// deterministic. Fewer such scenarios are logged. It fails if no run has reached one of the
// workload's goals, and if there was nothing to judge: no call of a main kind has succeeded, see
// [scenario.Workload]; or no client has recorded a call, and the workload has neither goals nor a
// judge with verdicts of its own, such as an invariant. On a running ensemble,
// which plays few scenarios, it only logs the goals that no run has reached.
//
// At an interrupt, a termination, and shortly before the time limit of the test binary (-timeout)
// it fails, and says how many of how many scenarios it has played.
//
// While it plays, up to 64 MB more garbage gathers than else; see Memory above.
func Test(t TB, w scenario.Workload) {
	t.Helper()
	defer ballast.Hold()()
	w.Impl = cmp.Or(w.Impl, t.Name())
	if *flagProcesses && flagServers.On() == nil {
		w.Elsewhere = byProcesses(t)
	}
	if runTask(t, w) {
		return
	}
	script, err := flaggedScript(w)
	if err == nil {
		err = reachEnsemble()
	}
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	defer logLeftNodes(t)
	if *flagReplay != "" {
		replay(t, w)
		return
	}
	defer keepNotes(t)()
	s := scenario.Scenario{Workload: w, Script: script, Seed: *flagSeed}.PlayedOn(flagServers.On())
	if s.On == nil {
		trySaved(t, w) // they are of simulations
	}
	ctx, stop := ending(t)
	defer stop()
	sweep := runSweep(ctx, t, s)
	found := runHunt(ctx, t, s, sweep)
	if flagShard == (hunt.Part{}) { // another shard may reach the others
		checkGoals(t, s, sweep, found)
	}
	if never := found.NeverCalled(); len(never) > 0 {
		t.Logf("zksim: optional methods that no scenario has called: %s", strings.Join(never, ", "))
	}
	undecided := sweep.Undecided + found.Undecided
	if tried := sweep.Points + found.Runs; tried > 0 && undecided == tried {
		t.Fatalf("zksim: nothing could be decided in any of %d runs: %s",
			undecided, sweep.Base.Summary())
	}
	leftOut := ""
	if sweep.LeftOut > 0 {
		leftOut = fmt.Sprintf("; %d more, at requests that repeat others, were left out", sweep.LeftOut)
	}
	t.Logf("zksim: survived %d of %d fault points (%d played, %d known from their runs%s) "+
		"and %d other scenarios (%d undecided)", sweep.Survived, sweep.Points,
		sweep.Points-sweep.Known, sweep.Known, leftOut, found.Runs, undecided)
	t.Logf("zksim: %s", strings.ReplaceAll(sweep.Judged().Plus(found.Judged()).String(), "\n", "; "))
	if len(found.Divergences) > 0 {
		t.Logf("zksim: a finding in some scenarios might not come again: %s", allDiverged(t, found))
	}
}

// runTask carries out the task that the command zksim gives this program, and reports whether there
// is one.
func runTask(t TB, w scenario.Workload) bool {
	t.Helper()
	done, err := show.DoTask(w)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	return done
}

// runSweep tries every single fault. It fails with the first violation unless that is minor.
func runSweep(ctx context.Context, t TB, s scenario.Scenario) *hunt.Sweep {
	t.Helper()
	sweep, err := hunt.FirstOfSweep(ctx, s, flagShard)
	if sweep == nil || err != nil && ctx.Err() == nil {
		t.Fatalf("zksim: sweep: %v", err)
	}
	if len(sweep.Violations) > 0 {
		if first := sweep.Violations[0].First; first == sweep.Base ||
			!hunt.Minor(first.Property()) {
			fail(ctx, t, first, nil)
		}
	} else if err != nil {
		t.Fatalf("%s", endedEarly(ctx, s, sweep, &hunt.Found{}))
	} else if err := sweep.CheckJudged(); err != nil {
		t.Fatalf("zksim: %v", err)
	}
	return sweep
}

// runHunt lets all strategies search. It fails with the first violation, or with a minor one of the
// sweep.
func runHunt(
	ctx context.Context, t TB, s scenario.Scenario, sweep *hunt.Sweep,
) *hunt.Found {
	t.Helper()
	found, err := hunt.Hunt{
		Workload: s.Workload, Script: s.Script, Seed: s.Seed, On: s.On, Runs: flaggedRuns(),
		Part: flagShard, Unit: unitOf(t.Name()),
		More: hunt.MoreAfter(flaggedRuns()), CheckDeterminism: s.On == nil,
	}.Run(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		t.Fatalf("zksim: %v", err)
	case len(sweep.Violations) > 0 && (found.First() == nil ||
		hunt.Minor(found.First().Property())):
		fail(ctx, t, sweep.Violations[0].First, found)
	case found.First() != nil:
		fail(ctx, t, found.First(), found, inHunt(found.Findings[0], s.Seed))
	case len(found.Divergences) > max(1, found.Runs/rarely):
		t.Fatalf("zksim: %s", allDiverged(t, found))
	case err != nil:
		t.Fatalf("%s", endedEarly(ctx, s, sweep, found))
	}
	return found
}

// inHunt says where a finding of a hunt was found. That of the sweep has its fault in its story.
func inHunt(f hunt.Finding, seed uint64) func(*scenario.Outcome) string {
	return func(*scenario.Outcome) string {
		text := fmt.Sprintf("\nzksim: found in scenario %d of %d, by %s, in the hunt of seed %d", f.Runs,
			flaggedRuns(), f.Strategy, seed)
		if flagShard != (hunt.Part{}) {
			text += fmt.Sprintf(" and shard %s", flagShard)
		}
		return text + "\n"
	}
}

// rarely is the share of scenarios, one in so many, that may go in two ways without a failure.
// Right code has such scenarios, as by a select with several ready cases, and their two runs differ
// by chance. State that runs share shows more often.
const rarely = 20

// allDiverged is the message about all scenarios with two runs that differ.
func allDiverged(t TB, found *hunt.Found) string {
	return fmt.Sprintf("%d of %d scenarios went in two ways: %s", len(found.Divergences), found.Runs,
		diverged(t, found.Divergences[0]))
}

// unitOf is the number of the first unit of work of a test for shards: by its name, so that the
// hunts of several tests are divided.
func unitOf(test string) int {
	h := fnv.New32a()
	h.Write([]byte(test)) // never fails
	return int(h.Sum32() >> 8)
}

// diverged is the message about a scenario with two runs that differ. It saves the scenario and the
// traces.
func diverged(t TB, d hunt.Divergence) string {
	text := hunt.Diverges("test") + "\n" + d.String()
	if d.First != nil {
		file, name := fileOf(t, d.First, "differs")
		text += "\nto play it again, several times: " + file.Command
		if err := file.Save(name); err != nil {
			text += fmt.Sprintf("\nthe scenario could not be saved: %v", err)
		}
	}
	names, err := d.SaveTraces(savedDir(t), "")
	if err != nil {
		return text + fmt.Sprintf("\nthe traces could not be saved: %v", err)
	}
	for i, name := range names {
		text += fmt.Sprintf("\nthe trace of run %d: %s", i+1, name)
	}
	return text
}

// checkGoals fails if no run has reached a goal: such a test never tries the case that it is about.
// On a running ensemble there is no sweep and there are few runs, so it only logs the goal.
func checkGoals(t TB, s scenario.Scenario, sweep *hunt.Sweep, found *hunt.Found) {
	t.Helper()
	var missed []string
	for _, goal := range s.Workload.Sometimes {
		reached := sweep.Reached[goal]+found.Reached[goal] > 0
		if !reached && !slices.Contains(sweep.Base.Reached, goal) {
			missed = append(missed, fmt.Sprintf("%q", goal))
		}
	}
	if missed == nil {
		return
	}
	goals := "goal " + missed[0] + " was"
	if len(missed) > 1 {
		goals = "goals " + strings.Join(missed, ", ") + " were"
	}
	report := t.Fatalf
	if s.On != nil {
		report = t.Logf
	}
	report("zksim: the %s reached in none of %d runs", goals, 1+sweep.Points+found.Runs)
}

// fail makes the violation small, saves it and fails with its story. It also names what else the
// hunt has found, if there was one, and what others say of the small violation.
func fail(
	ctx context.Context, t TB, o *scenario.Outcome, found *hunt.Found,
	others ...func(small *scenario.Outcome) string,
) {
	t.Helper()
	if *flagUnsteady {
		shown, runs := hunt.Shows(o)
		t.Fatalf("%s\nzksim: not made small; %d of %d more runs show it", show.Story(o),
			shown, runs)
	}
	small, finished, err := hunt.Minimize(ctx, o)
	if err != nil {
		t.Fatalf("zksim: %v\n\n%s", err, o.Story())
	}
	story := show.Story(small)
	if large := hunt.WhyLarge(ctx, finished); large != "" {
		story += "\nzksim: " + large + "\n"
	}
	if small.Result.Frozen != "" {
		story += "\nthe goroutines when it was given up:\n\n" +
			busyStacks(small.Result.Frozen) + "\n"
	}
	if steady, differing := hunt.Steady(small); !steady {
		t.Fatalf("%s\nzksim: %s is violated, but not each time: %s",
			story, small.Property(), diverged(t, hunt.DivergenceOf(small, differing)))
	}
	if small.Scenario.Script.Servers > 1 && flagServers.Number == 0 {
		story += "\nzksim: this needs several servers, as one scenario of eight has them: a read may " +
			"be answered by a server that lags, and a sync by a leader that was deposed. " +
			"-zksim.servers=1 plays on one only\n"
	}
	if s := small.Scenario; s.Script.Goroutines > 1 && s.Workload.Handles && *flagGoroutines == 0 {
		story += "\nzksim: this needs two handles in one client, as one scenario of four has them. " +
			"If a client has only one, say so by the claim Handles: object.OneHandle\n"
	}
	for _, say := range others {
		story += say(small)
	}
	if found != nil {
		for _, other := range found.Others {
			story += "\nzksim: also seen: " + other.Line()
		}
		if len(found.Others) > 0 {
			story += "\n"
		}
		if len(found.Divergences) > 0 {
			story += "\nzksim: besides, in another scenario: " +
				diverged(t, found.Divergences[0]) + "\n"
		}
	}
	t.Fatalf("%s\n%s", story, saveFailure(ctx, t, small))
}

// busyStacks are the stacks of a frozen run without those of goroutines that let virtual time pass.
// If all goroutines do, it is all stacks.
func busyStacks(stacks string) string {
	busy := slices.DeleteFunc(strings.Split(stacks, "\n\n"), func(stack string) bool {
		state, _, _ := strings.Cut(stack, "\n")
		return strings.Contains(state, "(durable)")
	})
	if len(busy) == 0 {
		return stacks
	}
	return strings.Join(busy, "\n\n")
}
