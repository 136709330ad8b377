package object_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// TestRightWorkloadsSurvive: every built-in workload without a known flaw survives.
func TestRightWorkloadsSurvive(t *testing.T) {
	for _, w := range object.Workloads().Sound() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			survives(t, w)
		})
	}
}

// survives runs a workload with random plans, some of them twice. recipes.Lock and workloads that
// are not built in also run without faults and with every single fault at every protocol step; with
// -full all do. It fails if anything is violated, if two runs differ, or if more than one verdict
// in a hundred is unknown.
func survives(t *testing.T, w scenario.Workload) {
	t.Helper()
	script := testrun.Pick(scenario.Script{Clients: 2, Rounds: 1}, scenario.DefaultScript)
	plans := testrun.Pick(10, 30)
	sweep := testrun.Full() || w.Impl == "recipes.Lock" || !registered(w)
	tried, err := try(t, w, script, sweep, plans)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(tried)
	if sweep && tried.points < 50 {
		t.Errorf("only %d fault points: does the workload do anything?", tried.points)
	}
}

// trial counts the runs of a workload.
type trial struct {
	points, survived, missed int // of the sweep
	plans, twice             int
	unknown                  int // verdicts, of sweep and plans
}

func (n trial) String() string {
	return fmt.Sprintf(
		"survived %d of %d fault points (%d not reached) and %d random plans "+
			"(%d of them run twice); %d unknown verdicts",
		n.survived, n.points, n.missed, n.plans, n.twice, n.unknown)
}

// registered reports whether a workload is a built-in one.
func registered(w scenario.Workload) bool {
	_, err := object.Find(w.Name, w.Impl)
	return err == nil
}

func try(
	t *testing.T, w scenario.Workload, script scenario.Script, sweep bool, plans int,
) (n trial, err error) {
	if sweep {
		if n, err = trySweep(t, w, script); err != nil {
			return n, err
		}
	}
	n.twice = min(10, plans)
	for _, hunt := range []hunt.Hunt{
		{Workload: w, Script: script, Seed: 1, Runs: n.twice, CheckDeterminism: true},
		{Workload: w, Script: script, Seed: 2, Runs: plans - n.twice},
	} {
		if hunt.Runs == 0 {
			continue
		}
		found, err := hunt.Run(t.Context())
		if err != nil {
			return n, err
		}
		n.plans, n.unknown = n.plans+found.Runs, n.unknown+found.Undecided
		switch {
		case found.First() != nil:
			return n, fmt.Errorf("after %d random plans:\n%s", n.plans, found.First().Story())
		case len(found.Divergences) > 0:
			return n, fmt.Errorf("%s", found.Divergences[0])
		}
	}
	if n.unknown*100 > n.points+n.plans {
		return n, fmt.Errorf("too many unknown verdicts: %s", n)
	}
	return n, nil
}

func trySweep(t *testing.T, w scenario.Workload, script scenario.Script) (trial, error) {
	sweep, err := hunt.RunSweep(
		t.Context(), scenario.Scenario{Workload: w, Script: script, Seed: 1}, hunt.Part{}, nil,
	)
	if err != nil {
		return trial{}, err
	}
	n := trial{
		points: sweep.Points, survived: sweep.Survived, missed: sweep.Missed,
		unknown: sweep.Undecided,
	}
	for _, v := range sweep.Violations {
		return n, fmt.Errorf("%d violations in %d fault points; the first: %s\n%s", sweep.Violated,
			sweep.Points, v.Faults[0], v.First.Story())
	}
	return n, nil
}

// TestFlawedWorkloadsDoNotSurvive is the control: they violate their known property.
func TestFlawedWorkloadsDoNotSurvive(t *testing.T) {
	t.Parallel()
	flawed := 0
	for _, w := range object.Workloads() {
		if w.Flawed == "" {
			continue
		}
		flawed++
		n, err := try(t, w, scenario.Script{Clients: 2, Rounds: 1}, true, 0)
		if err == nil || !strings.Contains(err.Error(), w.Flawed+" is violated") {
			t.Errorf("%s %s: got %v (%s); want a violation of %s", w.Name, w.Impl, err, n, w.Flawed)
		}
	}
	if sound := len(object.Workloads().Sound()); flawed == 0 ||
		sound+flawed != len(object.Workloads()) {
		t.Errorf("%d flawed and %d sound workloads of %d", flawed, sound, len(object.Workloads()))
	}
}
