package hunt

import (
	"cmp"
	"slices"
	"sync"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// sweepPoints are the points of a sweep, and their results, which come in any order.
type sweepPoints struct {
	base     *scenario.Outcome
	points   []*sweepPoint // in the order of their numbers
	order    []*sweepPoint // in the order in which they are played
	progress func(done, total int)
	last     func(*scenario.Outcome) bool // ends the sweep

	mu   sync.Mutex
	done int
	end  int // the points of order from this one on do not count
	// first is the first point so far of each bug, or, for "", the first undecided one.
	first map[string]*sweepPoint
}

// sweepPoint is a point of a sweep.
type sweepPoint struct {
	number, turn int // among all points, and in the order in which they are played
	fault        fault.Fault
	// before and later are the points of the same request or notification that are played before
	// and later than this one.
	before *sweepPoint
	later  []*sweepPoint
	ended  chan struct{} // closed when its turn is over
	pointResult
}

// pointResult is the result of the run with the fault of one point.
type pointResult struct {
	done, last, missed bool
	known              bool // it was not played; see sameRuns
	seen               basis
	status             linearizability.Status
	bug                string // "" if nothing is violated; see bugOf
	// outcome is nil if the point is ok, or if an earlier point shows the same bug, or is
	// undecided, too.
	outcome *scenario.Outcome
	reached []string
	err     error
}

// groupSize is the number of points that are played in an order of their own.
const groupSize = 48

// newSweepPoints lists the points of a part. They are played in groups, in each of which short
// faults come first: they may tell of longer ones, which stand next to them. It does not depend on
// the number of cores or parts which points are known, since those of one place are played one by
// one, and belong to one part.
func newSweepPoints(base *scenario.Outcome, faults []fault.Fault, part Part) *sweepPoints {
	p := &sweepPoints{base: base, first: map[string]*sweepPoint{}}
	units := map[place]int{}
	for i, f := range faults {
		unit, there := units[placeOf(f)]
		if !there {
			unit = len(units)
			units[placeOf(f)] = unit
		}
		if part.Has(unit) {
			p.points = append(p.points,
				&sweepPoint{number: i, fault: f, ended: make(chan struct{})})
		}
	}
	p.order, p.end = slices.Clone(p.points), len(p.points)
	for group := range slices.Chunk(p.order, groupSize) {
		slices.SortStableFunc(group, func(a, b *sweepPoint) int {
			return cmp.Compare(a.fault.For, b.fault.For)
		})
	}
	places := map[place][]*sweepPoint{}
	for turn, point := range slices.Backward(p.order) {
		at := placeOf(point.fault)
		point.turn, point.later = turn, places[at]
		if len(point.later) > 0 {
			point.later[len(point.later)-1].before = point
		}
		places[at] = append(point.later, point)
	}
	return p
}

// place is what a fault strikes.
type place struct {
	client         string
	request, event int
}

func placeOf(f fault.Fault) place { return place{f.Client, f.Request, f.Event} }

// take plays a point unless it is known, or does not count any more.
func (p *sweepPoints) take(point *sweepPoint, calm scenario.Scenario) {
	defer close(point.ended)
	if point.before != nil {
		<-point.before.ended
	}
	if p.isOver(point) || p.isKnown(point) {
		return
	}
	calm.Plan = []fault.Fault{point.fault}
	p.keep(point, playOne(calm, false))
}

func (p *sweepPoints) isOver(point *sweepPoint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return point.turn >= p.end
}

// isKnown reports whether the result of a point is known from another, and counts it if it is.
func (p *sweepPoints) isKnown(point *sweepPoint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if point.known {
		p.count(point)
	}
	return point.known
}

func (p *sweepPoints) count(point *sweepPoint) {
	point.done = true
	p.done++
	p.progress(p.done, len(p.points))
}

// keep keeps the result of a point that was played, and what it tells of others.
func (p *sweepPoints) keep(point *sweepPoint, r played) {
	o, bug := r.outcome, ""
	if r.err == nil && o.Status() == linearizability.Violated {
		bug = bugOf(o) // which may run it once more
	}
	var others []*sweepPoint
	if r.err == nil {
		others = p.knownFrom(point, o)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if point.err = r.err; r.err != nil {
		p.end = min(p.end, point.turn+1)
		return
	}
	point.pointResult = pointResult{
		last: p.last(o), missed: len(o.Result.Missed) > 0, seen: basisOf(o), status: o.Status(),
		reached: o.Reached, bug: bug,
	}
	for _, other := range others {
		other.pointResult = point.pointResult
		other.known = true
	}
	first := p.first[bug]
	if point.status != linearizability.OK && (first == nil || point.number < first.number) {
		if first != nil {
			first.outcome = nil
		}
		p.first[bug] = point
		point.outcome = o
	}
	if point.last {
		p.endBehind(point, o)
	}
	p.count(point)
}

// knownFrom lists the later points that an outcome makes known.
func (p *sweepPoints) knownFrom(point *sweepPoint, o *scenario.Outcome) []*sweepPoint {
	var faults []fault.Fault
	for _, other := range point.later {
		faults = append(faults, other.fault)
	}
	same := sameRuns(p.base, o, faults)
	return slices.DeleteFunc(slices.Clone(point.later), func(other *sweepPoint) bool {
		return !slices.Contains(same, other.fault)
	})
}

// endBehind ends the sweep with a point. The others of its group still count, because some of them
// have smaller numbers, unless code goes on that would slow them down.
func (p *sweepPoints) endBehind(point *sweepPoint, o *scenario.Outcome) {
	end := point.turn + 1
	if !froze(o) {
		end = (point.turn/groupSize + 1) * groupSize
	}
	p.end = min(p.end, end)
}
