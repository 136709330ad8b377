package gallery_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// late are the planted exhibits that are found with -full only: hundreds of scenarios each, or
// long ones.
var late = []string{
	"barrier-closes-beside-its-calls",
	"lock-looks-for-its-node-three-times",
	"lock-makes-its-directory-once",
	"queue-wakes-one-of-several-waiters",
	"rivals-deletes-again-without-a-reply",
	"rivals-writes-into-whatever-is-there",
	"two-phase-commit-begins-again",
	"two-phase-commit-sets-the-decision",
	"two-phase-commit-works-it-out-for-itself",
}

var shortScript = scenario.Script{Clients: 2, Rounds: 1}

// trial is a hunt for a planted exhibit.
type trial struct {
	seed   uint64
	script scenario.Script
}

// shortcuts are hunts that find in a few scenarios what the others find in many. Without -full they
// come first. One that finds nothing any more, after a change to the harness, costs time alone.
var shortcuts = map[string]trial{
	"barrier-passes-on-any-event":                            {3, scenario.DefaultScript},
	"cache-reads-again-whenever-it-is-asked":                 {25, scenario.DefaultScript},
	"cache-takes-a-node-without-data-for-none":               {6, scenario.DefaultScript},
	"cache-tells-of-no-removal":                              {5, shortScript},
	"config-ignores-the-version":                             {1, scenario.DefaultScript},
	"config-takes-its-own-echo-for-a-rival":                  {1, scenario.DefaultScript},
	"delay-queue-sleeps-until-the-first-is-due":              {6, scenario.DefaultScript},
	"delay-queue-takes-a-rival-s-delete-for-its-own":         {34, scenario.DefaultScript},
	"delay-queue-takes-what-is-due-last-first":               {1, shortScript},
	"election-never-says-that-it-is-lost":                    {35, shortScript},
	"id-queue-says-that-it-has-failed":                       {9, shortScript},
	"lock-queue-acknowledges-what-was-redelivered":           {42, scenario.DefaultScript},
	"queue-marks-its-elements-with-its-session":              {45, shortScript},
	"rwlock-looks-and-then-enters":                           {1, scenario.DefaultScript},
	"single-node-lock-tells-holds-apart-by-one-bit":          {28, scenario.DefaultScript},
	"threshold-barrier-sets-again-whatever-was-lost":         {9, shortScript},
	"two-phase-commit-acknowledges-a-lost-vote":              {6, shortScript},
	"two-phase-commit-does-not-ask-what-others-have-decided": {14, scenario.DefaultScript},
	"two-phase-commit-knows-no-deadline":                     {1, scenario.DefaultScript},
	"two-phase-commit-presumes-that-it-has-decided":          {15, shortScript},
	"two-phase-commit-takes-its-vote-back":                   {1, scenario.DefaultScript},
	"two-phase-commit-waits-for-one-to-decide":               {1, shortScript},
	"value-compares-data-and-not-versions":                   {5, scenario.DefaultScript},
}

// trials are the hunts for an exhibit, in their order. The first scenarios of another hunt find a
// bug sooner than the later ones of the same hunt.
func trials(e gallery.Exhibit) (list []trial) {
	if first, ok := shortcuts[e.Slug]; ok && !testrun.Full() {
		list = append(list, first)
	}
	for _, seed := range []uint64{4, 2, 1, 3, 5, 6, 7, 8} {
		list = append(list, trial{seed, scenario.DefaultScript}, trial{seed, shortScript})
	}
	return list
}

// TestPlantedAreFound is the proof that the harness can fail: a change to it that no
// longer finds one of them is broken.
func TestPlantedAreFound(t *testing.T) {
	t.Parallel()
	for _, e := range planted() {
		if !testrun.Full() && slices.Contains(late, e.Slug) {
			continue
		}
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			if e.Script.Goroutines > 1 || e.Script.Careless {
				isFoundByItsScriptOnly(t, e)
			} else {
				isFound(t, e)
			}
		})
	}
}

func planted() []gallery.Exhibit {
	var list []gallery.Exhibit
	for _, e := range gallery.Exhibits() {
		if !e.HasStory() {
			list = append(list, e)
		}
	}
	return list
}

// isFound fails unless one of several hunts finds the bug.
func isFound(t *testing.T, e gallery.Exhibit) {
	t.Helper()
	runs := 0
	for _, try := range trials(e) {
		e.Script = try.script
		h, err := e.Find(t.Context(), try.seed, 400)
		check.OK(t, err)
		if runs += h.Runs; h.Found() {
			t.Logf("%s: %d scenarios", e.Property, runs)
			return
		}
	}
	t.Errorf("%s holds in %d scenarios", e.Property, runs)
}

// isFoundByItsScriptOnly fails if the exhibit is found without several goroutines of a
// client and callers that go away, or is not found with them. There are no faults.
func isFoundByItsScriptOnly(t *testing.T, e gallery.Exhibit) {
	t.Helper()
	plain := e.Script
	plain.Goroutines, plain.Careless = 1, false
	if o := search(t, e.Wrong, plain, 20, ""); o != nil {
		t.Errorf("found without:\n%s", o.Story())
	}
	if search(t, e.Wrong, e.Script, 200, e.Property) == nil {
		t.Fatalf("%s holds", e.Property)
	}
	if o := search(t, e.Right, e.Script, 20, ""); o != nil {
		t.Errorf("the right recipe:\n%s", o.Story())
	}
}

// TestHuntsShareObjects: a hunt finds bugs that only several goroutines of a client show, unless it
// must have one.
func TestHuntsShareObjects(t *testing.T) {
	t.Parallel()
	named, err := gallery.Named("queue-wakes-one-of-several-waiters",
		"counter-keeps-the-state-of-a-call-in-the-handle")
	check.OK(t, err)
	const runs = 200
	for _, e := range named {
		for seed := range testrun.Pick(uint64(1), 3) {
			e.Script = scenario.DefaultScript
			if h, err := e.Find(t.Context(), 1+seed, runs); err != nil || !h.Found() {
				t.Errorf("%s: seed %d: not found in %d runs: %v", e.Slug, 1+seed, runs, err)
			}
		}
		e.Script.Goroutines = 1
		if h, err := e.Find(t.Context(), 1, runs); err != nil || h.Found() {
			t.Errorf("%s: one goroutine: found: %v, %v", e.Slug, h.Found(), err)
		}
	}
}

// search returns the first violation of a property, or of any if it is "", in the runs of some
// seeds without faults. It returns nil if there is none.
func search(t *testing.T, w scenario.Workload, script scenario.Script, seeds uint64,
	property string) *scenario.Outcome {
	t.Helper()
	for seed := range seeds {
		o := run(t, scenario.Scenario{Workload: w, Script: script, Seed: seed})
		status := o.Status()
		if property != "" {
			v, _ := o.Report.Verdict(property)
			status = v.Status
		}
		if status == linearizability.Violated {
			return o
		}
	}
	return nil
}

// TestLateExhibitsExist: a name that has changed is not left out any more, and has no shortcut.
func TestLateExhibitsExist(t *testing.T) {
	if _, err := gallery.Named(slices.AppendSeq(late, maps.Keys(shortcuts))...); err != nil {
		t.Error(err)
	}
}

// TestBasesSurvive: the right recipe of each kind survives every single fault at every
// step, so that the hunts of its exhibits find their bugs only. Without -full it survives a
// short hunt.
func TestBasesSurvive(t *testing.T) {
	t.Parallel()
	script := scenario.Script{Clients: 2, Rounds: 1}
	for name, base := range gallery.Bases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testrun.Full() {
				survivesSweep(t, scenario.Scenario{Workload: base, Script: script, Seed: 1})
				return
			}
			found, err := hunt.Hunt{Workload: base, Script: script, Seed: 1,
				Runs: few}.Run(t.Context())
			check.OK(t, err)
			if o := found.First(); o != nil {
				t.Error(o.Story())
			}
		})
	}
}

func survivesSweep(t *testing.T, s scenario.Scenario) {
	t.Helper()
	sweep, err := hunt.RunSweep(t.Context(), s, hunt.Part{}, nil)
	check.OK(t, err)
	if sweep.Points < 50 {
		t.Errorf("only %d fault points: does the workload do anything?", sweep.Points)
	}
	for _, v := range sweep.Violations {
		t.Fatalf("%d violations in %d points; the first: %s\n%s",
			sweep.Violated, sweep.Points, v.Faults[0], v.First.Story())
	}
}

// TestServicesMayStayOnlyIfEmptiedLate: a late reap that ends long before the end excuses
// no registry that keeps its services.
func TestServicesMayStayOnlyIfEmptiedLate(t *testing.T) {
	named, err := gallery.Named("registry-keeps-its-services")
	check.OK(t, err)
	reap, err := fault.Parse("late-reap-unlike-3.8 3s client=b at=1s")
	check.OK(t, err)
	o := run(t, scenario.Scenario{
		Workload: named[0].Wrong, Script: scenario.DefaultScript, Seed: 1,
		Plan: []fault.Fault{reap},
	})
	v, judged := o.Report.Verdict(linearizability.Orphans)
	if len(o.Result.Missed) > 0 || !judged || v.Status != linearizability.Violated {
		t.Errorf("missed %v; want orphans:\n%s", o.Result.Missed, o.Story())
	}
}
