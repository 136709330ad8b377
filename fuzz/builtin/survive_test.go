package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestRightWorkloadsSurvive: every built-in workload without a known flaw survives.
func TestRightWorkloadsSurvive(t *testing.T) {
	for _, w := range builtin.Workloads().Sound() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			survives(t, w)
		})
	}
}

// survives runs a workload with random plans, some of them twice. recipes.Lock also runs without
// faults and with every single fault at every protocol step, and workloads that are not built in
// with every third one; with -full all do with every one. It fails if anything is violated, if two
// runs differ, or if more than one verdict in a hundred is unknown.
func survives(t *testing.T, w scenario.Workload) {
	t.Helper()
	script := testrun.Pick(scenario.Script{Clients: 2, Rounds: 1}, scenario.DefaultScript)
	plans := testrun.Pick(6, 30)
	var sweep sweepFunc
	switch {
	case testrun.Full() || w.Impl == "recipes.Lock":
		sweep = sweepOf("")
	case !registered(w):
		sweep = sweepOf("1/3")
	}
	tried, err := try(t, w, script, sweep, plans)
	check.OK(t, err)
	t.Log(tried)
	if sweep != nil && tried.total < 50 {
		t.Errorf("only %d fault points: does the workload do anything?", tried.total)
	}
}

// trial counts the runs of a workload.
type trial struct {
	total                    int // fault points
	points, survived, missed int // of those that the sweep has tried
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
	_, err := builtin.Find(w.Name, w.Impl)
	return err == nil
}

// A sweepFunc sweeps a scenario. It is nil for no sweep.
type sweepFunc func(context.Context, scenario.Scenario) (*hunt.Sweep, error)

// sweepOf tries every fault point of a part.
func sweepOf(part string) sweepFunc {
	return func(ctx context.Context, s scenario.Scenario) (*hunt.Sweep, error) {
		var p hunt.Part
		if err := p.UnmarshalText([]byte(part)); err != nil {
			return nil, err
		}
		return hunt.RunSweep(ctx, s, p, nil)
	}
}

// upToTheFirst tries the fault points up to the first violation.
func upToTheFirst(ctx context.Context, s scenario.Scenario) (*hunt.Sweep, error) {
	return hunt.FirstOfSweep(ctx, s, hunt.Part{})
}

func try(
	t *testing.T, w scenario.Workload, script scenario.Script, sweep sweepFunc, plans int,
) (n trial, err error) {
	if sweep != nil {
		if n, err = trySweep(t, w, script, sweep); err != nil {
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

func trySweep(
	t *testing.T, w scenario.Workload, script scenario.Script, run sweepFunc,
) (trial, error) {
	sweep, err := run(t.Context(), scenario.Scenario{Workload: w, Script: script, Seed: 1})
	if err != nil {
		return trial{}, err
	}
	n := trial{
		total: sweep.Total, points: sweep.Points, survived: sweep.Survived, missed: sweep.Missed,
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
	for _, w := range builtin.Workloads() {
		if w.Flawed == "" {
			continue
		}
		flawed++
		n, err := try(t, w, scenario.Script{Clients: 2, Rounds: 1}, upToTheFirst, 0)
		if err == nil || !strings.Contains(err.Error(), w.Flawed+" is violated") {
			t.Errorf("%s %s: got %v (%s); want a violation of %s", w.Name, w.Impl, err, n, w.Flawed)
		}
	}
	if sound := len(builtin.Workloads().Sound()); flawed == 0 ||
		sound+flawed != len(builtin.Workloads()) {
		t.Errorf("%d flawed and %d sound workloads of %d", flawed, sound, len(builtin.Workloads()))
	}
}
