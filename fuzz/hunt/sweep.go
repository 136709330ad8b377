package hunt

import (
	"context"
	"slices"
	"sync"

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

	seen basis // see CheckJudged
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
// protocol steps, or with those of a part, on all cores. It calls progress, if not nil, after every
// run. When ctx is done it returns the result so far and the error of the context. When code spins
// without end in a run, it returns the result so far: that code would slow down all other runs.
func RunSweep(
	ctx context.Context, s scenario.Scenario, part Part, progress func(done, total int),
) (*Sweep, error) {
	return runSweep(ctx, s, part, progress, froze)
}

// FirstOfSweep is RunSweep; it also ends at the first violation that is not [Minor]: a broken
// object violates something at most points, and each such run takes long. On a running ensemble it
// plays the run without faults alone, since all points would take hours.
func FirstOfSweep(ctx context.Context, s scenario.Scenario, part Part) (*Sweep, error) {
	if s.On != nil {
		return newSweep(s)
	}
	return runSweep(ctx, s, part, nil, func(o *scenario.Outcome) bool {
		return froze(o) || o.Status() == linearizability.Violated && !Minor(o.Property())
	})
}

// runSweep is RunSweep; it also ends at the first outcome for which last is true.
func runSweep(
	ctx context.Context, s scenario.Scenario, part Part, progress func(done, total int),
	last func(*scenario.Outcome) bool,
) (*Sweep, error) {
	s.Plan = nil
	sweep, err := newSweep(s)
	if err != nil || len(sweep.Violations) > 0 {
		return sweep, err
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	points := sweepPoints{first: map[string]int{}, progress: progress, last: last}
	err = sweep.run(ctx, s, part, &points)
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
	sweep := &Sweep{Base: base, Reached: map[string]int{}, seen: basisOf(base)}
	if base.Status() == linearizability.Violated {
		sweep.addViolation(0, fault.Fault{}, bugOf(base), base)
	}
	return sweep, nil
}

// run tries the fault points of the base that belong to a part.
func (s *Sweep) run(
	ctx context.Context, calm scenario.Scenario, part Part, points *sweepPoints,
) error {
	faults := FaultPoints(s.Base)
	s.Total = len(faults)
	var own []int // numbers of points
	for i := range faults {
		if part.Has(i) {
			own = append(own, i)
		}
	}
	points.results = make([]pointResult, len(own))
	parallel(ctx, len(own), workers(0, calm.Script, calm.On), func(i int) (goOn bool) {
		point := calm
		point.Plan = []fault.Fault{faults[own[i]]}
		return points.keep(i, playOne(point, false))
	})
	for i, r := range points.results {
		switch {
		case r.err != nil:
			return r.err
		case !r.played:
			return ctx.Err()
		}
		if s.add(own[i], faults[own[i]], r); r.last {
			return nil
		}
	}
	return nil
}

// pointResult is the result of the run with the fault of one point.
type pointResult struct {
	played, last, missed bool
	seen                 basis
	status               linearizability.Status
	bug                  string // "" if nothing is violated; see bugOf
	// outcome is nil if the point is ok, or if an earlier point shows the same bug, or is
	// undecided, too.
	outcome *scenario.Outcome
	reached []string
	err     error
}

// sweepPoints are the results of the points of a sweep. They come in any order.
type sweepPoints struct {
	mu      sync.Mutex
	results []pointResult
	done    int
	// first is the first point so far of each bug, or, for "", the first undecided one.
	first    map[string]int
	progress func(done, total int)
	last     func(*scenario.Outcome) bool // ends the sweep
}

// keep keeps the result of the i-th point, and reports whether the sweep goes on.
func (p *sweepPoints) keep(i int, r played) (goOn bool) {
	o, bug := r.outcome, ""
	if r.err == nil && o.Status() == linearizability.Violated {
		bug = bugOf(o) // which may run it once more
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.results[i].err = r.err; r.err != nil {
		return false
	}
	kept := pointResult{
		played: true, last: p.last(o), missed: len(o.Result.Missed) > 0, seen: basisOf(o),
		status: o.Status(), reached: o.Reached, bug: bug,
	}
	first, known := p.first[kept.bug]
	if kept.status != linearizability.OK && (!known || i < first) {
		if known {
			p.results[first].outcome = nil
		}
		p.first[kept.bug] = i
		kept.outcome = o
	}
	p.results[i] = kept
	p.done++
	p.progress(p.done, len(p.results))
	return !kept.last
}

// add counts the result of one point.
func (s *Sweep) add(number int, f fault.Fault, r pointResult) {
	s.Points++
	s.seen.add(r.seen)
	for _, goal := range r.reached {
		s.Reached[goal]++
	}
	if r.missed {
		s.Missed++
	}
	switch r.status {
	case linearizability.Violated:
		s.Violated++
		s.addViolation(number, f, r.bug, r.outcome)
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
