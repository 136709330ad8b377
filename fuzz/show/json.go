package show

import (
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Outcome is an outcome, for programs that read JSON.
type Outcome struct {
	Workload       string    `json:"workload"`
	Implementation string    `json:"implementation"`
	Clients        int       `json:"clients"`
	Rounds         int       `json:"rounds"`
	Goroutines     int       `json:"goroutines"`
	Servers        int       `json:"servers"`
	Careless       bool      `json:"careless"`
	Seed           uint64    `json:"seed"`
	Schedule       string    `json:"schedule,omitempty"`
	Plan           []string  `json:"plan"`
	Status         string    `json:"status"`
	Property       string    `json:"property,omitempty"`
	Summary        string    `json:"summary,omitempty"`
	Verdicts       []Verdict `json:"verdicts"`
	Missed         []string  `json:"missed,omitempty"`
	Story          string    `json:"story"`
	Trace          string    `json:"trace"`
}

// Verdict is the verdict on a property, for programs.
type Verdict struct {
	Property string `json:"property"`
	Status   string `json:"status"`
	Summary  string `json:"summary"`
}

// OutcomeOf is an outcome as JSON has it.
func OutcomeOf(o *scenario.Outcome) Outcome {
	s := o.Scenario
	j := Outcome{
		Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Clients: s.Script.Clients, Rounds: s.Script.Rounds, Goroutines: max(1, s.Script.Goroutines),
		Servers:  max(1, s.Script.Servers),
		Careless: s.Script.Careless, Seed: s.Seed,
		Plan: []string{}, Status: o.Status().String(), Property: o.Property(), Summary: o.Summary(),
		Verdicts: VerdictsOf(o.Verdicts()), Trace: o.Result.Trace.Hash(),
		Story: o.Story(),
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

// VerdictsOf are verdicts as JSON has them.
func VerdictsOf(verdicts []linearizability.Verdict) []Verdict {
	list := []Verdict{}
	for _, v := range verdicts {
		list = append(list, Verdict{v.Property, v.Status.String(), v.Summary})
	}
	return list
}

// Replayed is the run of a scenario file, for programs.
type Replayed struct {
	File     string   `json:"file"`
	AsExpect bool     `json:"as_expected"`
	Problems []string `json:"problems"`
	Error    string   `json:"error,omitempty"` // for which the file cannot be played
	Repeat   string   `json:"repeat,omitempty"`
	Outcome  *Outcome `json:"outcome,omitempty"`
}

func (v View) replayed(r *saved.Replay) Replayed {
	outcome := OutcomeOf(r.Outcome)
	return Replayed{
		File: v.File, AsExpect: len(r.Problems) == 0, Problems: append([]string{}, r.Problems...),
		Repeat: v.Repeat, Outcome: &outcome,
	}
}
