package linearizability

import (
	"fmt"
	"time"
)

// ThresholdBarrier say what a threshold barrier claims to be.
type ThresholdBarrier struct {
	// Path is the znode of the barrier, with those of the members below it. If its
	// data is the number of members, it is known when a set took effect.
	Path string
	// Patience: a wait that gave up is a violation of liveness if for so long, up to
	// its return, enough members had been waiting, or the barrier had been open, and
	// none of them was told of a disconnect or the end of its session. 0 means that
	// this is not judged.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// JudgeThresholdBarrier judges the history of one threshold barrier: operations of
// the kinds [KindSet], whose Input is the number of members for which it closes the
// barrier, and [KindWait]; others are ignored. Rest may be nil. A client, which must
// not wait twice at once, is there from its call of wait until its return; if that is
// an error, as long as the ephemerals are there that it has made in it.
//
// Safety: who returns from wait has found the barrier open at some moment of the
// call. It opens when so many are there at one moment as it was set to, and closes
// when it is set. Delivery: a set is applied once. Liveness: who waits for an open
// barrier passes, and so do those who are enough. Watches on Path are not judged.
func (opts ThresholdBarrier) judge(h History, rest *Leftovers) Report {
	c := newThresholdCase(h, opts)
	r := Report{Verdicts: []Verdict{c.judgeSafety()}, draw: drawThreshold(c.history)}
	if c.log.known {
		r.Verdicts = append(r.Verdicts, c.judgeDelivery())
	}
	r.Verdicts = append(r.Verdicts, c.judgeLiveness(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest.withoutWatches(opts.Path), opts.AllowedAtRest, leftBelow(rest, opts.Path), c.history.waits))
	}
	return r
}

// thresholdCase is one history of one threshold barrier, prepared for judging.
type thresholdCase struct {
	attendance
	opts     ThresholdBarrier
	settings []setting
	openings []opening
}

// opening is a moment at which the barrier may have opened.
type opening struct {
	step int64
	of   setting
}

func newThresholdCase(h History, opts ThresholdBarrier) *thresholdCase {
	c := &thresholdCase{attendance: newAttendance(h, opts.Path), opts: opts}
	for _, op := range c.history.Ops {
		if op.Kind != KindWait {
			continue
		}
		s := c.comes(op)
		if op.ok() {
			s.end = op.Return
		}
	}
	c.settings = settingsOf(c.history, opts.Path)
	c.openings = c.findOpenings()
	return c
}

// findOpenings lists the moments at which enough may have been there, of which there
// are more only when somebody comes or the number changes.
func (c *thresholdCase) findOpenings() []opening {
	var moments []int64
	for _, s := range c.stays {
		moments = append(moments, s.come.Call)
	}
	for _, s := range c.settings {
		moments = append(moments, s.from)
	}
	var list []opening
	for _, step := range moments {
		there := len(clients(c.at(step)))
		for _, s := range c.settings {
			if there >= s.members && c.mayRule(s, step) {
				list = append(list, opening{step, s})
			}
		}
	}
	return list
}

// mayRule reports whether a setting may be the newest at a step.
func (c *thresholdCase) mayRule(s setting, step int64) bool {
	for _, next := range c.settings {
		if next.after(s) && next.to <= step {
			return false
		}
	}
	return s.from <= step
}

// judgeSafety checks each wait that returned well.
func (c *thresholdCase) judgeSafety() Verdict {
	passed := 0
	for _, s := range c.stays {
		if !s.come.ok() {
			continue
		}
		passed++
		if !c.mayPass(s.come) {
			return violated(Safety, []int64{s.come.Call, s.come.Return}, "%s passed at step %d, but at no moment of its call was the barrier open: %s",
				s.come.Client, s.come.Return, c.whyClosed(s.come))
		}
	}
	return fine(Safety, "%s, none before enough were there", count(passed, "passage"))
}

// mayPass reports whether the barrier may have been open during a call.
func (c *thresholdCase) mayPass(op Op) bool {
	for _, o := range c.openings {
		if o.step <= op.Return && (o.step >= op.Call || c.mayStayOpen(o.step, op.Call)) {
			return true
		}
	}
	return false
}

// mayStayOpen reports whether the barrier, open at a step, may be so still at a later
// one: it was not certainly set in between.
func (c *thresholdCase) mayStayOpen(step, until int64) bool {
	for _, s := range c.settings {
		if s.from > step && s.to < until {
			return false
		}
	}
	return true
}

// whyClosed says how many were there, at most, and how many it takes.
func (c *thresholdCase) whyClosed(op Op) string {
	most := 0
	for _, s := range c.stays {
		if op.Call <= s.come.Call && s.come.Call <= op.Return || s.come.Call == op.Call {
			most = max(most, len(clients(c.at(s.come.Call))))
		}
	}
	text := "it was never set"
	for _, s := range c.settings {
		if c.mayRule(s, op.Return) {
			text = "it was set to " + s.op.Input + " by " + describe(s.op)
		}
	}
	return text + ", and no more than " + count(most, "member") + " came"
}

// judgeDelivery checks that each set was applied once.
func (c *thresholdCase) judgeDelivery() Verdict {
	for _, s := range c.settings {
		if v, bad := deliveredOnce(s.op, s.changes, false); bad && len(s.changes) > 0 {
			return v
		}
	}
	return fine(Delivery, "%s, none twice", count(len(c.settings), "set"))
}

// judgeLiveness asks of each wait that never returned, or gave up, whether it should
// have returned.
func (c *thresholdCase) judgeLiveness(rest *Leftovers) []Verdict {
	for _, s := range c.stays {
		if c.opts.Patience == 0 || s.come.pending() || s.come.ok() {
			continue
		}
		if why := c.inVain(s); why != "" {
			return []Verdict{violated(Liveness, []int64{s.come.Call, s.come.Return}, "%s gave up after %v, though for the last %v, undisturbed, %s",
				describe(s.come), s.come.ReturnTime-s.come.CallTime, c.opts.Patience, why)}
		}
	}
	return c.history.judgeReturns(rest, func(op Op) bool { return op.Kind == KindWait && c.mayWait() })
}

// inVain says why a wait that gave up should have passed, and "" if it should not.
func (c *thresholdCase) inVain(s *stay) string {
	since := s.come.ReturnTime - c.opts.Patience
	waiting := c.patient(s, since)
	if len(waiting) == 0 {
		return ""
	}
	need, known := c.need(since, s.come.ReturnTime)
	if n := len(clients(waiting)); known && n >= need {
		return "enough had been waiting: " + count(n, "member")
	}
	for _, other := range c.stays {
		if other.come.ok() && other.come.ReturnTime <= since && c.opensForGood(other.come, s.come.ReturnTime) && !c.disturbed(s, since) && s.come.CallTime <= since {
			return fmt.Sprintf("the barrier had been open: %s had passed at step %d", other.come.Client, other.come.Return)
		}
	}
	return ""
}

// need is how many it took, at most, at any moment of a time. It is not known if the
// barrier may not have been set.
func (c *thresholdCase) need(from, to time.Duration) (most int, known bool) {
	for _, s := range c.settings {
		if s.fromTime <= to && c.mayRuleSince(s, from) {
			most = max(most, s.members)
		}
		known = known || s.toTime < from
	}
	return most, known
}

// mayRuleSince reports whether a setting may be the newest at some moment from a
// time on.
func (c *thresholdCase) mayRuleSince(s setting, from time.Duration) bool {
	for _, next := range c.settings {
		if next.after(s) && next.toTime < from {
			return false
		}
	}
	return true
}

// opensForGood reports whether who passed has certainly found the barrier open as it
// was up to a later time: no set takes effect after its call.
func (c *thresholdCase) opensForGood(op Op, until time.Duration) bool {
	for _, s := range c.settings {
		if s.to >= op.Call && s.fromTime <= until {
			return false
		}
	}
	return true
}

// mayWait reports whether those who wait at rest may: they are not enough, and the
// barrier may be closed.
func (c *thresholdCase) mayWait() bool {
	var waiting []*stay
	for _, s := range c.stays {
		if s.come.pending() {
			waiting = append(waiting, s)
		}
		if s.come.ok() && c.opensForGood(s.come, c.history.EndTime) {
			return false
		}
	}
	need, known := c.need(c.history.EndTime, c.history.EndTime)
	return !known || len(clients(waiting)) < need
}
