package hunt

import (
	"context"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// A Violation is all that a sweep found against one property. Of the outcomes only the
// first is there, as each holds the trace of its run; the others are had again by the
// scenario of the base with their fault.
type Violation struct {
	Property string
	// Faults are the points at which the property is violated, in order: the one zero
	// Fault if it is violated without any.
	Faults []fault.Fault
	// First is the outcome of the first of them.
	First *scenario.Outcome
}

// Sweep is the outcome of trying every fault at every protocol step.
type Sweep struct {
	// Base is the fault-free run from which the points were taken.
	Base *scenario.Outcome
	// Total counts the fault points there are. Points counts those tried, fewer if
	// the sweep was interrupted; Survived those without a violation and without a
	// verdict left open.
	Total, Points, Survived int
	// Violated counts the points with a violation, Undecided those without one at which
	// some verdict is unknown.
	Violated, Undecided int
	// Violations are the properties that were violated, in the order in which they first
	// were; each point counts for one of those it violates, see Outcome.Property. If the
	// fault-free run violates one, that is the only one, and no point was tried.
	Violations []Violation
	// Missed counts the points that the run with the fault did not reach.
	Missed int
	// Reached counts the runs in which each goal was reached.
	Reached map[string]int
}

// sweepDurations are tried for the kinds that last: one that a session survives,
// one between two thirds of a session, when the client gives a silent connection
// up, and its end, and one that no session survives.
var sweepDurations = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}

// FaultPoints lists every single fault that a run offers a place for: each kind,
// at each request and each notification of the run.
func FaultPoints(base *scenario.Outcome) []fault.Fault {
	var faults []fault.Fault
	add := func(info fault.KindInfo, f fault.Fault) {
		f.Kind = info.Kind
		if !info.Lasts {
			faults = append(faults, f)
			return
		}
		for _, f.For = range sweepDurations {
			faults = append(faults, f)
		}
	}
	for _, info := range fault.Kinds() {
		for _, r := range base.Result.Requests {
			if info.OnRequest {
				add(info, fault.Fault{Client: r.Client, Request: r.Number})
			}
		}
		for _, e := range base.Result.Events {
			if info.OnEvent {
				add(info, fault.Fault{Client: e.Client, Event: e.Number})
			}
		}
	}
	return faults
}

// RunSweep runs the scenario without faults and then once with each single
// fault at each of its protocol steps, on all cores. progress, if not nil, hears of every run.
// It ends early, with what it has and the context's error, when ctx is done, and with
// what it has when a run froze: what spins there would slow down all others.
func RunSweep(ctx context.Context, s scenario.Scenario, progress func(done, total int)) (*Sweep, error) {
	s.Plan = nil
	base, err := s.Run()
	if err != nil {
		return nil, err
	}
	sweep := &Sweep{Base: base, Reached: map[string]int{}}
	if base.Status() == linearizability.Violated {
		sweep.blame(fault.Fault{}, base)
		return sweep, nil
	}
	faults := FaultPoints(base)
	sweep.Total = len(faults)
	frozen := false
	for chunk := range slices.Chunk(faults, generation) {
		err := playTogether(ctx, len(chunk), 0,
			func(i int) (played, bool) {
				point := s
				point.Plan = []fault.Fault{chunk[i]}
				r := playOne(point, false)
				return r, !froze(r.outcome)
			},
			func(i int, r played) (bool, error) {
				sweep.add(chunk[i], r.outcome)
				if progress != nil {
					progress(sweep.Points, sweep.Total)
				}
				frozen = froze(r.outcome)
				return !frozen, nil
			})
		if err != nil || frozen {
			return sweep, err
		}
	}
	return sweep, nil
}

func (s *Sweep) add(f fault.Fault, o *scenario.Outcome) {
	s.Points++
	for _, goal := range o.Reached {
		s.Reached[goal]++
	}
	if len(o.Result.Missed) > 0 {
		s.Missed++
	}
	switch o.Status() {
	case linearizability.Violated:
		s.Violated++
		s.blame(f, o)
	case linearizability.Unknown:
		s.Undecided++
	default:
		s.Survived++
	}
}

// blame notes a violation, and its outcome if it is the first of its property.
func (s *Sweep) blame(f fault.Fault, o *scenario.Outcome) {
	i := slices.IndexFunc(s.Violations, func(v Violation) bool { return v.Property == o.Property() })
	if i < 0 {
		i = len(s.Violations)
		s.Violations = append(s.Violations, Violation{Property: o.Property(), First: o})
	}
	s.Violations[i].Faults = append(s.Violations[i].Faults, f)
}
