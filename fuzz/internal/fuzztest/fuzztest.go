// Package fuzztest has helpers for the tests of fuzz and of the packages below it.
package fuzztest

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// Builtin returns a built-in workload.
func Builtin(t testing.TB, name, impl string) scenario.Workload {
	t.Helper()
	w, err := builtin.Find(name, impl)
	check.OK(t, err)
	return w
}

// Run runs a scenario.
func Run(t testing.TB, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	check.OK(t, err)
	return o
}

// Holds runs a scenario, and reports one that is not OK.
func Holds(t testing.TB, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o := Run(t, s)
	if o.Status() != linearizability.OK {
		t.Errorf("seed %d: %s", s.Seed, o.Story())
	}
	return o
}

// Plan reads faults.
func Plan(t testing.TB, lines ...string) []fault.Fault {
	t.Helper()
	var faults []fault.Fault
	for _, line := range lines {
		f, err := fault.Parse(line)
		check.OK(t, err)
		faults = append(faults, f)
	}
	return faults
}
