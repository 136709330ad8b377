package hunt_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

func sweepOf(t *testing.T, name, impl string, script scenario.Script) *hunt.Sweep {
	t.Helper()
	sweep, err := hunt.RunSweep(t.Context(), scenario.Scenario{
		Workload: fuzztest.Builtin(t, name, impl), Script: script, Seed: 1,
	}, hunt.Part{}, nil)
	check.OK(t, err)
	return sweep
}

// shortLocks is a short script of the client's lock.
func shortLocks(t testing.TB) scenario.Scenario {
	t.Helper()
	return scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", "zk.Lock"), Seed: 1,
		Script: scenario.Script{Clients: testrun.Pick(1, 2), Rounds: 1},
	}
}

// watchedSweep is a sweep with the first call of each of its runs, as long as it is kept.
type watchedSweep struct {
	*hunt.Sweep
	runs []weak.Pointer[linearizability.Op]
}

// lockSweep is the sweep of shortLocks, as the first test that looks at it has made it.
var lockSweep struct {
	sync.Once
	watchedSweep
	err error
}

// ofLocks returns the sweep of shortLocks, the same for all tests.
func ofLocks(t *testing.T) watchedSweep {
	t.Helper()
	lockSweep.Do(func() {
		s := shortLocks(t)
		var mu sync.Mutex
		judge := s.Workload.Judge
		s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			mu.Lock()
			lockSweep.runs = append(lockSweep.runs, weak.Make(&e.History.Ops[0]))
			mu.Unlock()
			return judge(e)
		}
		lockSweep.Sweep, lockSweep.err = hunt.RunSweep(context.Background(), s, hunt.Part{}, nil)
	})
	check.OK(t, lockSweep.err)
	return lockSweep.watchedSweep
}

// TestSweepFindsThePublishedBugs: the client's lock waits for itself when a connection dies between
// its create and its watch, and keeps its node when no server hears of its delete; the
// get-then-delete queue loses the element whose delete is not answered.
func TestSweepFindsThePublishedBugs(t *testing.T) {
	for _, c := range []struct {
		workload, impl string
		properties     []string
	}{
		{"lock", "zk.Lock", []string{linearizability.Liveness, linearizability.Orphans}},
		{"queue", "recipes.ApacheQueue", []string{linearizability.Delivery}},
	} {
		t.Run(c.impl, func(t *testing.T) {
			t.Parallel()
			script := testrun.Pick(scenario.Script{Clients: 1, Rounds: 1},
				scenario.Script{Clients: 2, Rounds: 2})
			var sweep *hunt.Sweep
			if s := shortLocks(t); script == s.Script && c.impl == s.Workload.Impl {
				sweep = ofLocks(t).Sweep
			} else {
				sweep = sweepOf(t, c.workload, c.impl, script)
			}
			if sweep.Violated == 0 || sweep.Survived == 0 {
				t.Fatalf("%d violations, %d survived; want some of both", sweep.Violated,
					sweep.Survived)
			}
			if got := sweep.Survived + sweep.Undecided + sweep.Violated; got != sweep.Points {
				t.Errorf("the numbers add up to %d, not to the %d points", got, sweep.Points)
			}
			violated := 0
			for _, v := range sweep.Violations {
				violated += len(v.Faults)
				if !slices.Contains(c.properties, v.Property) ||
					v.First.Property() != v.Property {
					t.Errorf("%s: %s is violated, %d times of %d; want %s: %s",
						v.Faults[0], v.Property, len(v.Faults), sweep.Violated, c.properties,
						v.First.Summary())
				}
				if !slices.Equal(v.First.Scenario.Plan, v.Faults[:1]) {
					t.Errorf("the first outcome is of %v, not of %s", v.First.Scenario.Plan,
						v.Faults[0])
				}
			}
			if violated != sweep.Violated {
				t.Errorf("the violations have %d points, not %d", violated, sweep.Violated)
			}
		})
	}
}

// TestFaultPointsCoverEveryKindAtEveryStep: each request takes every kind, those
// that last three times, and each notification the kinds that strike on the way to the
// client.
func TestFaultPointsCoverEveryKindAtEveryStep(t *testing.T) {
	base := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.DefaultScript, Seed: 1,
	})
	perRequest := map[string]int{}
	for _, f := range hunt.FaultPoints(base) {
		if err := f.Validate(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if f.Request > 0 {
			perRequest[string(f.Kind)]++
		}
	}
	requests := len(base.Result.Requests)
	for _, kind := range fault.KindsFor(1) {
		if kind.OnRequest && perRequest[string(kind.Kind)] == 0 {
			t.Errorf("no point of %s", kind.Kind)
		}
	}
	for kind, n := range perRequest {
		if n != requests && n != 3*requests {
			t.Errorf("%s: %d points for %d requests", kind, n, requests)
		}
	}
}

func TestSweepStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
	}
	sweep, err := hunt.RunSweep(ctx, s, hunt.Part{}, func(done, total int) {
		if done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || sweep == nil || sweep.Points != sweep.Survived ||
		sweep.Points < 3 || sweep.Points > 3+runtime.GOMAXPROCS(0) {
		t.Errorf(
			"err %v, sweep %+v; want context.Canceled after three points and what was under way",
			err, sweep,
		)
	}
}

// TestSweepOfAViolatingBaseSaysSo: a workload that fails without faults needs no sweep.
func TestSweepOfAViolatingBaseSaysSo(t *testing.T) {
	s := scenario.Scenario{Workload: blindLocks(), Script: scenario.DefaultScript, Seed: 1}
	sweep, err := hunt.RunSweep(t.Context(), s, hunt.Part{}, nil)
	check.OK(t, err)
	if len(sweep.Violations) != 1 || sweep.Violations[0].First != sweep.Base || sweep.Points != 0 ||
		sweep.Violated != 0 {
		t.Fatalf("%d violations, %d points; want the fault-free run only", len(sweep.Violations),
			sweep.Points)
	}
	if faults := sweep.Violations[0].Faults; len(faults) != 1 || faults[0] != (fault.Fault{}) {
		t.Errorf("faults %v; want the zero one alone", faults)
	}
}

// TestFirstOfSweepIsTheFirstOfAll, and no point after it counts.
func TestFirstOfSweepIsTheFirstOfAll(t *testing.T) {
	all := ofLocks(t)
	one, err := hunt.FirstOfSweep(t.Context(), shortLocks(t), hunt.Part{})
	check.OK(t, err)
	want, got := all.Violations[0], one.Violations[0]
	check.Equal(t, got.Number, want.Number)
	check.Equal(t, got.First.Summary(), want.First.Summary())
	check.Equal(t, one.Points, want.Number+1)
	check.Equal(t, one.Violated+one.Survived+one.Undecided, one.Points)
	check.Equal(t, one.Points < all.Points/2, true, "%d of %d points", one.Points, all.Points)
}

// TestPollsAreLeftOutOfASweep: of requests that repeat each other thousands of times the first and
// the last stay, and all others stay.
func TestPollsAreLeftOutOfASweep(t *testing.T) {
	var requests []trace.RequestPoint
	add := func(op, path string) {
		requests = append(requests, trace.RequestPoint{
			Client: "a", Number: len(requests) + 1, Op: op, Path: path,
		})
	}
	add("create", "/x")
	for n := range 1000 {
		add("exists", fmt.Sprintf("/x/n-%d", n))
	}
	add("delete", "/x")
	base := &scenario.Outcome{
		Scenario: scenario.Scenario{Script: scenario.DefaultScript},
		Result:   &trace.Result{Requests: requests, Steps: 60_000},
	}
	check.Equal(t, hunt.PointsWithin(base), 1000, "points")
	all := hunt.FaultPoints(base)
	kept := hunt.FewerPoints(base, all, 1000)
	check.Equal(t, len(kept) <= 1000 && len(kept) > 800, true, "%d of %d", len(kept), len(all))
	of := map[int]bool{}
	for _, f := range kept {
		of[f.Request] = true
	}
	for number, want := range map[int]bool{1: true, 2: true, 3: true, 500: false, 1000: true,
		1001: true, 1002: true} {
		check.Equal(t, of[number], want, "request %d", number)
	}
	check.Equal(t, len(hunt.FewerPoints(base, all, len(all))), len(all), "with room for all")
}

// TestSweepKeepsOneRunOfEachProperty: hundreds of runs that violate the same must not fill
// the memory.
func TestSweepKeepsOneRunOfEachProperty(t *testing.T) {
	sweep := ofLocks(t)
	runtime.GC()
	kept := 0
	for _, p := range sweep.runs {
		if p.Value() != nil {
			kept++
		}
	}
	if want := 1 + len(sweep.Violations); kept != want || sweep.Violated <= want {
		t.Errorf("%d violations of %d properties keep %d runs; "+
			"want that of the base and one of each property",
			sweep.Violated, len(sweep.Violations), kept)
	}
	runtime.KeepAlive(sweep)
}
