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

// DoubleBarrierOptions say what a double barrier claims to be.
type DoubleBarrierOptions struct {
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
func JudgeDoubleBarrier(h History, rest *Rest, opts DoubleBarrierOptions) Report {
	c := newDoubleBarrierCase(h, opts)
	var r Report
	r.Verdicts = append(r.Verdicts, c.judgeSafety())
	r.Verdicts = append(r.Verdicts, c.judgeLiveness(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, opts.AllowedAtRest, leftBelow(rest, opts.Path), c.history.waits))
	}
	return r
}

// doubleBarrierCase is one history of one double barrier, prepared for judging.
type doubleBarrierCase struct {
	history History
	opts    DoubleBarrierOptions
	size    int // 1 if no enter says it
	stays   []*stay
}

// stay is the time in which a client is there.
type stay struct {
	enter Op
	leave *Op
	end   int64   // the step from which it is not there
	ended []int64 // the steps at which sessions of its client ended
}

func newDoubleBarrierCase(h History, opts DoubleBarrierOptions) *doubleBarrierCase {
	c := &doubleBarrierCase{history: h.sorted(), opts: opts, size: 1}
	log := readServer(c.history.Server)
	inside := map[string]*stay{}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		s := inside[op.Client]
		switch {
		case op.Kind == KindEnter:
			if size, err := strconv.Atoi(op.Input); err == nil {
				c.size = size
			}
			inside[op.Client] = c.newStay(*op, log)
			c.stays = append(c.stays, inside[op.Client])
		case op.Kind == KindLeave && s != nil && s.enter.ok():
			if s.leave == nil || !s.leave.ok() {
				s.leave = op // the one that returns well, if there are several
			}
			s.end = min(s.end, op.Call)
		}
	}
	return c
}

func (c *doubleBarrierCase) newStay(op Op, log serverLog) *stay {
	s := &stay{enter: op, end: never}
	if !op.pending() && !op.ok() {
		s.end = op.Return
		if gone := c.withdrawn(op, log); gone != 0 {
			s.end = gone
		}
	}
	for _, e := range c.history.Server {
		if e.Kind == SessionEnded && (log.clients[e.subject()] == op.Client || op.Session != 0 && e.subject() == op.Session) {
			s.ended = append(s.ended, e.Step)
		}
	}
	for _, n := range c.history.Notices {
		if !log.known && n.Client == op.Client && n.Kind == SessionExpired {
			s.ended = append(s.ended, n.Step)
		}
	}
	return s
}

// withdrawn is the step at which the last ephemeral went that the client made in an
// enter that has failed, 0 if there is none: who was cut off cannot take it back at
// once.
func (c *doubleBarrierCase) withdrawn(op Op, log serverLog) (gone int64) {
	next := int64(never)
	for _, other := range c.history.Ops {
		if other.Client == op.Client && other.Kind == KindEnter && other.Call > op.Call {
			next = min(next, other.Call)
		}
	}
	for _, l := range log.lives {
		if l.creator == op.Client && l.owner != 0 && l.born >= op.Call && l.born < next && below(c.opts.Path, l.path) {
			gone = max(gone, l.died)
		}
	}
	return gone
}

// at lists who is there at a step.
func (c *doubleBarrierCase) at(step int64) []*stay {
	var list []*stay
	for _, s := range c.stays {
		if s.enter.Call <= step && step < s.end {
			list = append(list, s)
		}
	}
	return list
}

// judgeSafety checks each enter and each leave that returned well.
func (c *doubleBarrierCase) judgeSafety() Verdict {
	entered, left := 0, 0
	for _, s := range c.stays {
		if !s.enter.ok() {
			continue
		}
		entered++
		crowd := c.crowds(s)
		if len(crowd) == 0 {
			return violated(Safety, []int64{s.enter.Call, s.enter.Return}, "%s entered at step %d, but at no moment of its call were %s there",
				s.enter.Client, s.enter.Return, count(c.size, "member"))
		}
		if s.leave == nil || !s.leave.ok() {
			continue
		}
		left++
		if inside := c.insideAfter(s, crowd); inside != nil {
			return violated(Safety, []int64{s.leave.Call, s.leave.Return}, "%s had left at step %d, but %s, which entered with it, was inside",
				s.enter.Client, s.leave.Return, inside.enter.Client)
		}
	}
	return fine(Safety, "%s and %s, none without the others", count(entered, "entry"), count(left, "exit"))
}

// crowds lists those who are there with s at each moment of its call of enter at
// which they are enough.
func (c *doubleBarrierCase) crowds(s *stay) [][]*stay {
	var list [][]*stay
	for _, other := range c.stays { // somebody's coming, or s's own, makes them enough
		step := max(other.enter.Call, s.enter.Call)
		if all := c.at(step); step <= s.enter.Return && len(clients(all)) >= c.size {
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

// clients lists whose stays they are.
func clients(stays []*stay) []string {
	var ops []Op
	for _, s := range stays {
		ops = append(ops, s.enter)
	}
	return clientsOf(ops)
}

// isGone reports whether a stay has ended when s has left, or a session of its client
// has since s came.
func (o *stay) isGone(s *stay) bool {
	for _, step := range o.ended {
		if step >= s.enter.Call && step <= s.leave.Return {
			return true
		}
	}
	return o.end <= s.leave.Return
}

// judgeLiveness asks of each call that never returned, or gave up, whether it
// should have returned.
func (c *doubleBarrierCase) judgeLiveness(rest *Rest) []Verdict {
	for _, s := range c.stays {
		if c.opts.Patience > 0 && !s.enter.pending() && !s.enter.ok() && c.inVain(s) {
			return []Verdict{violated(Liveness, []int64{s.enter.Call, s.enter.Return},
				"%s gave up after %v, though %s had been waiting undisturbed for the last %v, and none of them entered",
				describe(s.enter), s.enter.ReturnTime-s.enter.CallTime, count(c.size, "member"), c.opts.Patience)}
		}
	}
	return c.history.judgeReturns(rest, nil)
}

// inVain reports whether enough waited with s, for long enough before it gave up.
func (c *doubleBarrierCase) inVain(s *stay) bool {
	since := s.enter.ReturnTime - c.opts.Patience
	waiting := 0
	for _, other := range c.stays {
		if other.enter.CallTime <= since && other.enter.end() >= s.enter.Return && !c.disturbed(other, since) {
			waiting++
		}
	}
	return waiting >= c.size
}

func (c *doubleBarrierCase) disturbed(s *stay, since time.Duration) bool {
	for _, n := range c.history.Notices {
		if n.Client == s.enter.Client && n.Time >= since && n.Step <= s.enter.end() {
			return true
		}
	}
	return false
}
