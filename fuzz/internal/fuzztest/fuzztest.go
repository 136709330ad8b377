// Package fuzztest has helpers for the tests of fuzz and of the packages below it.
package fuzztest

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Builtin returns a built-in workload.
func Builtin(t testing.TB, name, impl string) scenario.Workload {
	t.Helper()
	w, err := builtin.Find(name, impl)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Run runs a scenario.
func Run(t testing.TB, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Plan reads faults.
func Plan(t testing.TB, lines ...string) []fault.Fault {
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
