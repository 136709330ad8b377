package sim

import (
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// result builds the Result of the run. A run that has frozen may still go on: only its journal, and
// what was known at rest, are read then.
func (s *simulation) result(failure *bubble.Failure, frozen string) *trace.Result {
	if frozen != "" {
		return s.frozenResult(frozen)
	}
	r := s.facts()
	switch {
	case failure == nil:
	case failure.Kind == "panic":
		r.Panics = append(r.Panics, failure.Message+"\n"+failure.Stack)
	default:
		stacks := s.guard.Stacks()
		guard.Leak(stacks)
		if r.Runaway == nil { // the goroutines of a runaway were left alone
			r.Leaked, r.Scripts = failure.Message+"\n"+stacks, s.processes.scripts()
		}
	}
	return s.complete(r)
}

// frozenResult is the result of a run that was given up. If it was at rest already, all but its end
// is known.
func (s *simulation) frozenResult(stacks string) *trace.Result {
	spins := guard.IsRunning(stacks)
	r := s.atRest.Load()
	if r == nil {
		return &trace.Result{Trace: s.journal.Trace(), Frozen: stacks, Spins: spins,
			Steps: s.guard.Steps()}
	}
	if r.Spins = spins; spins || r.Runaway == nil {
		r.Leaked = "the run could not be ended\n" + stacks
	}
	return s.complete(r)
}

// facts are what is known of the run so far.
func (s *simulation) facts() *record.Record {
	r := s.record.Record()
	r.Steps, r.OutOfSteps, r.Missed = s.stepsAtRest, s.guard.OutOfSteps(), s.faults.Missed()
	if found := s.guard.Runaway(); found != nil {
		r.Runaway = &found.Runaway
	}
	r.Decisions, r.Dropped = s.order.decisions, s.turns.dropped
	return r
}

func (s *simulation) complete(r *record.Record) *trace.Result {
	out := r.Complete(s.journal.Trace())
	if out.Runaway != nil {
		out.Runaway.Step = out.Step(s.guard.Runaway().Since)
	}
	return out
}

// release drops the memory of a run that has ended. Goroutines that are left behind keep the rest.
func (s *simulation) release() {
	s.journal.Release()
	s.record.Release()
	s.atRest.Store(nil)
	s.agenda.Clear()
	s.faults.Serve(carry.Ensemble{}) // without the engine
	*s.network = network{}
}
