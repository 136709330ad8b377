package fuzz_test

import (
	"flag"
	"runtime/debug"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var update = flag.Bool("update", false, "write the expected results of testdata anew")

// TestMain lets garbage grow, as the command does: each connection of the client
// takes megabytes, and collecting them is half of a run.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// builtin is a built-in workload.
func builtin(t testing.TB, name, impl string) scenario.Workload {
	t.Helper()
	w, err := object.Find(name, impl)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs a scenario.
func run(t testing.TB, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// holdsUndisturbed fails if the workload does not hold without faults with one of the
// first seeds.
func holdsUndisturbed(t *testing.T, w scenario.Workload, seeds uint64) {
	t.Helper()
	for seed := range seeds {
		if o := run(t, scenario.Scenario{
			Workload: w, Script: scenario.DefaultScript, Seed: seed,
		}); o.Status() != linearizability.OK {
			t.Fatalf("seed %d: %s", seed, o.Story())
		}
	}
}

// plan reads faults.
func plan(t testing.TB, lines ...string) []fault.Fault {
	t.Helper()
	var faults []fault.Fault
	for _, line := range lines {
		f, err := fault.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	return faults
}
