package hunt

import (
	"context"
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Sweep is the outcome of trying every fault at every protocol step.
type Sweep struct {
	// Base is the fault-free run from which the points were taken.
	Base *scenario.Outcome
	// Total counts the fault points there are, and Points those tried, fewer if the sweep was
	// interrupted or is a Part. Survived counts those without a violation and without an unknown
	// verdict.
	Total, Points, Survived int
	// LeftOut counts those of Total that [FirstOfSweep] has left out, as there were too many.
	LeftOut int
	// Known counts those of Points that were not played: a run of another point shows that theirs
	// would go in the same way, and violate nothing. The others were played.
	Known int
	// Violated counts the points with a violation. Undecided counts those without one, but with an
	// unknown verdict.
	Violated, Undecided int
	// FirstUndecided is the outcome of the first undecided point, nil if there is none.
	FirstUndecided *scenario.Outcome
	// Violations are in the order of their first points, but with those that are [Minor] last. Each
	// point counts for one; see [scenario.Outcome.Property]. If the run without faults violates a
	// property, that is the only one, and no point was tried.
	Violations []Violation
	// Missed counts the points that the run with the fault did not reach.
	Missed int
	// Reached counts the runs in which each goal was reached.
	Reached map[string]int

	seen basis // of the points that were played
}

// A Violation is all findings of a sweep that are [Alike]. It has only the first outcome, since an
// outcome holds the trace of its run. To get another, run the scenario of the base with its fault.
type Violation struct {
	Property string
	// Faults are the points at which it shows, in order. If it shows without any fault, there is
	// one zero Fault.
	Faults []fault.Fault
	// First is the outcome of the first of them, and Number its number among all points, from 0.
	First  *scenario.Outcome
	Number int
	// Bug is equal for violations that are [Alike].
	Bug string
}

// RunSweep runs the scenario without faults and then once with each single fault at each of its
// protocol steps, or with those of a part, on all cores. It does not play points whose runs are
// [Sweep.Known] from others. It calls progress, if not nil, after every
// run. When ctx is done it returns the result so far and the error of the context. When code spins
// without end in a run, it returns the result so far: that code would slow down all other runs.
func RunSweep(
	ctx context.Context, s scenario.Scenario, part Part, progress func(done, total int),
) (*Sweep, error) {
	return runSweep(ctx, s, part, progress, froze, nil)
}

// FirstOfSweep is RunSweep; it also ends at the first violation that is not [Minor]: a broken
// object violates something at most points, and each such run takes long. On a running ensemble it
// plays the run without faults alone, since all points would take hours. Of very many points it
// leaves some out.
func FirstOfSweep(ctx context.Context, s scenario.Scenario, part Part) (*Sweep, error) {
	if s.On != nil {
		return newSweep(s)
	}
	return runSweep(ctx, s, part, nil, func(o *scenario.Outcome) bool {
		return froze(o) || o.Status() == linearizability.Violated && !Minor(o.Property())
	}, pointsWithin)
}

// runSweep is RunSweep; it also ends at the first outcome for which last is true. most bounds the
// points, if it is not nil.
func runSweep(
	ctx context.Context, s scenario.Scenario, part Part, progress func(done, total int),
	last func(*scenario.Outcome) bool, most func(base *scenario.Outcome) int,
) (*Sweep, error) {
	s.Plan = nil
	sweep, err := newSweep(s)
	if err != nil || len(sweep.Violations) > 0 {
		return sweep, err
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	faults := FaultPoints(sweep.Base)
	sweep.Total = len(faults)
	if most != nil {
		faults = fewerPoints(sweep.Base, faults, most(sweep.Base))
		sweep.LeftOut = sweep.Total - len(faults)
	}
	points := newSweepPoints(sweep.Base, faults, part)
	points.progress, points.last = progress, last
	err = sweep.run(ctx, s, points)
	sortBySeverity(sweep.Violations, func(v Violation) *scenario.Outcome { return v.First })
	return sweep, err
}

// newSweep plays the run without faults.
func newSweep(s scenario.Scenario) (*Sweep, error) {
	base, err := saved.Play(s)
	if err == nil {
		err = checkCalm(base)
	}
	if err != nil {
		return nil, err
	}
	sweep := &Sweep{Base: base, Reached: map[string]int{}}
	if base.Status() == linearizability.Violated {
		sweep.addViolation(0, fault.Fault{}, bugOf(base), base)
	}
	return sweep, nil
}

// run tries fault points.
func (s *Sweep) run(ctx context.Context, calm scenario.Scenario, points *sweepPoints) error {
	parallel(ctx, len(points.order), workers(0, calm.Script, calm.On), func(turn int) (goOn bool) {
		points.take(points.order[turn], calm)
		return true
	})
	for _, p := range points.points {
		switch {
		case p.turn >= points.end:
			continue
		case p.err != nil:
			return p.err
		case p.done:
			s.add(p)
		}
		if p.last {
			return nil
		}
	}
	return ctx.Err()
}

// add counts the result of one point.
func (s *Sweep) add(r *sweepPoint) {
	s.Points++
	s.seen.add(r.seen)
	for _, goal := range r.reached {
		s.Reached[goal]++
	}
	if r.missed {
		s.Missed++
	}
	if r.known {
		s.Known++
	}
	switch r.status {
	case linearizability.Violated:
		s.Violated++
		s.addViolation(r.number, r.fault, r.bug, r.outcome)
	case linearizability.Unknown:
		if s.Undecided++; s.FirstUndecided == nil {
			s.FirstUndecided = r.outcome
		}
	default:
		s.Survived++
	}
}

// addViolation notes a violation, and its outcome if it is the first of its bug.
func (s *Sweep) addViolation(number int, f fault.Fault, bug string, first *scenario.Outcome) {
	i := slices.IndexFunc(s.Violations, func(v Violation) bool { return v.Bug == bug })
	if i < 0 {
		i = len(s.Violations)
		s.Violations = append(s.Violations,
			Violation{Property: first.Property(), First: first, Number: number, Bug: bug})
	}
	s.Violations[i].Faults = append(s.Violations[i].Faults, f)
}
