package linearizability

import (
	"cmp"
	"strconv"
	"time"
)

// KindEnter is the operation of a double barrier that waits until enough members
// are there: Input is their number, the same for all. [KindLeave] ends that, and
// waits until all of them have left.
const KindEnter = "enter"

// DoubleBarrier say what a double barrier claims to be.
type DoubleBarrier struct {
	// Path is the directory of its znodes.
	Path string
	// Patience: an enter that gave up is a violation of liveness if for so long,
	// up to its return, enough members had been waiting, and none of them was told
	// of a disconnect or the end of its session. 0 means that this is not judged.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// JudgeDoubleBarrier judges the history of one double barrier: operations of the
// kinds [KindEnter] and [KindLeave]; others are ignored. Rest may be nil. A client
// is there from its call of enter until its call of leave; if its enter returns an
// error, as long as the ephemerals are there that it has made in it, or until it
// returns.
//
// Safety: who returns from enter was there with enough others at some moment of
// the call. Who returns from leave has seen so many of those leave, or be excused
// by the end of a session. It needs to know of no znodes.
func (opts DoubleBarrier) judge(h History, rest *Leftovers) Report {
	c := newDoubleBarrierCase(h, opts)
	r := Report{draw: drawInside(c.history)}
	r.Verdicts = append(r.Verdicts, c.judgeSafety())
	r.Verdicts = append(r.Verdicts, c.judgeLiveness(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, opts.AllowedAtRest, leftBelow(rest, opts.Path), c.history.waits))
	}
	return r
}

// doubleBarrierCase is one history of one double barrier, prepared for judging.
type doubleBarrierCase struct {
	attendance
	opts DoubleBarrier
	size int // 1 if no enter says it
}

func newDoubleBarrierCase(h History, opts DoubleBarrier) *doubleBarrierCase {
	c := &doubleBarrierCase{attendance: newAttendance(h, opts.Path), opts: opts, size: 1}
	inside := map[string]*stay{}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		s := inside[op.Client]
		switch {
		case op.Kind == KindEnter:
			if size, err := strconv.Atoi(op.Input); err == nil {
				c.size = size
			}
			inside[op.Client] = c.comes(*op)
		case op.Kind == KindLeave && s != nil && s.come.ok():
			if s.leave == nil || !s.leave.ok() {
				s.leave = op // the one that returns well, if there are several
			}
			s.end = min(s.end, op.Call)
		}
	}
	return c
}

// judgeSafety checks each enter and each leave that returned well.
func (c *doubleBarrierCase) judgeSafety() Verdict {
	entered, left := 0, 0
	for _, s := range c.stays {
		if !s.come.ok() {
			continue
		}
		entered++
		crowd := c.crowds(s)
		if len(crowd) == 0 {
			return violated(Safety, []int64{s.come.Call, s.come.Return}, "%s entered at step %d, but at no moment of its call were %s there",
				s.come.Client, s.come.Return, count(c.size, "member"))
		}
		if s.leave == nil || !s.leave.ok() {
			continue
		}
		left++
		if inside := c.insideAfter(s, crowd); inside != nil {
			return violated(Safety, []int64{s.leave.Call, s.leave.Return}, "%s had left at step %d, but %s, which entered with it, was inside",
				s.come.Client, s.leave.Return, inside.come.Client)
		}
	}
	return fine(Safety, "%s and %s, none without the others", count(entered, "entry"), count(left, "exit"))
}

// crowds lists those who are there with s at each moment of its call of enter at
// which they are enough.
func (c *doubleBarrierCase) crowds(s *stay) [][]*stay {
	var list [][]*stay
	for _, other := range c.stays { // somebody's coming, or s's own, makes them enough
		step := max(other.come.Call, s.come.Call)
		if all := c.at(step); step <= s.come.Return && len(clients(all)) >= c.size {
			list = append(list, all)
		}
	}
	return list
}

// insideAfter returns one who is inside when s has left, if too few have gone of
// each crowd that s may have entered with.
func (c *doubleBarrierCase) insideAfter(s *stay, crowds [][]*stay) *stay {
	var inside *stay
	for _, crowd := range crowds {
		var gone []*stay
		for _, other := range crowd {
			if other == s || other.isGone(s) {
				gone = append(gone, other)
			} else {
				inside = cmp.Or(inside, other)
			}
		}
		if len(clients(gone)) >= c.size {
			return nil
		}
	}
	return inside
}

// isGone reports whether a stay has ended when s has left, or a session of its client
// has since s came.
func (o *stay) isGone(s *stay) bool {
	for _, step := range o.ended {
		if step >= s.come.Call && step <= s.leave.Return {
			return true
		}
	}
	return o.end <= s.leave.Return
}

// judgeLiveness asks of each call that never returned, or gave up, whether it
// should have returned.
func (c *doubleBarrierCase) judgeLiveness(rest *Leftovers) []Verdict {
	for _, s := range c.stays {
		if c.opts.Patience > 0 && !s.come.pending() && !s.come.ok() && c.inVain(s) {
			return []Verdict{violated(Liveness, []int64{s.come.Call, s.come.Return},
				"%s gave up after %v, though %s had been waiting undisturbed for the last %v, and none of them entered",
				describe(s.come), s.come.ReturnTime-s.come.CallTime, count(c.size, "member"), c.opts.Patience)}
		}
	}
	return c.history.judgeReturns(rest, nil)
}

// inVain reports whether enough waited with s, for long enough before it gave up.
func (c *doubleBarrierCase) inVain(s *stay) bool {
	return len(clients(c.patient(s, s.come.ReturnTime-c.opts.Patience))) >= c.size
}
