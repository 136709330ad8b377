package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// oursName stands for this repository in the place of a library's name.
const oursName = "zksim"

// sweepOurs tries the same kinds of faults, at every request of the same number of clients and
// rounds, on a workload of package fuzz. It plays each point once: in virtual time every run of a
// point is the same.
func sweepOurs(ctx context.Context, w scenario.Workload) (*sweep, error) {
	trial := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 2, Rounds: rounds}, Seed: 1,
	}
	base, err := trial.Run()
	if err != nil {
		return nil, err
	}
	s := &sweep{library: oursName, recipe: w.Impl}
	if base.Status() == linearizability.Violated {
		s.broken = base.Property() + ": " + base.Summary()
		return s, nil
	}
	for _, f := range hunt.FaultPoints(base) {
		if !slices.Contains(faultKinds, f.Kind) || f.Request == 0 {
			continue
		}
		trial.Plan = []fault.Fault{f}
		o, err := trial.Run()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		s.addOurs(f, o)
		if err := ctx.Err(); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *sweep) addOurs(f fault.Fault, o *scenario.Outcome) {
	if len(o.Result.Missed) > 0 {
		return
	}
	s.points++
	switch o.Status() {
	case linearizability.OK:
		s.survived++
	case linearizability.Unknown:
		s.failures = append(s.failures, fmt.Sprintf("%s: undecided", f))
	default:
		s.failures = append(s.failures, fmt.Sprintf("%s: %s: %s", f, o.Property(), o.Summary()))
	}
}
