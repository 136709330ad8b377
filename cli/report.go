package cli

import (
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// outcomeJSON is an outcome for programs.
type outcomeJSON struct {
	Workload       string        `json:"workload"`
	Implementation string        `json:"implementation"`
	Clients        int           `json:"clients"`
	Rounds         int           `json:"rounds"`
	Goroutines     int           `json:"goroutines"`
	Servers        int           `json:"servers"`
	Careless       bool          `json:"careless"`
	Seed           uint64        `json:"seed"`
	Schedule       string        `json:"schedule,omitempty"`
	Plan           []string      `json:"plan"`
	Status         string        `json:"status"`
	Property       string        `json:"property,omitempty"`
	Summary        string        `json:"summary,omitempty"`
	Verdicts       []verdictJSON `json:"verdicts"`
	Missed         []string      `json:"missed,omitempty"`
	Trace          string        `json:"trace"`
}

type verdictJSON struct {
	Property string `json:"property"`
	Status   string `json:"status"`
	Summary  string `json:"summary"`
}

func outcomeOf(o *scenario.Outcome) outcomeJSON {
	s := o.Scenario
	j := outcomeJSON{
		Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Clients: s.Script.Clients, Rounds: s.Script.Rounds, Goroutines: max(1, s.Script.Goroutines),
		Servers:  max(1, s.Script.Servers),
		Careless: s.Script.Careless, Seed: s.Seed,
		Plan: []string{}, Status: o.Status().String(), Property: o.Property(), Summary: o.Summary(),
		Verdicts: verdictsOf(o.Verdicts()), Trace: o.Result.Trace.Hash(),
	}
	if s.Schedule.Kind != sim.Latencies {
		j.Schedule = s.Schedule.String()
	}
	for _, f := range s.Plan {
		j.Plan = append(j.Plan, f.String())
	}
	for _, f := range o.Result.Missed {
		j.Missed = append(j.Missed, f.String())
	}
	return j
}

func verdictsOf(verdicts []linearizability.Verdict) []verdictJSON {
	list := []verdictJSON{}
	for _, v := range verdicts {
		list = append(list, verdictJSON{v.Property, v.Status.String(), v.Summary})
	}
	return list
}
