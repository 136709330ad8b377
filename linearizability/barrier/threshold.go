package barrier

import (
	"fmt"
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Threshold claims to be a threshold barrier. Its calls are [ops.Set] and [ops.Wait]. The
// Input of a set is the number of members that opens the barrier. A client must not wait twice at
// once. It is present from its call of wait until the return. If wait returns an error, it is
// present until the ephemerals of that call are deleted.
//
// Safety: a wait returns only if the barrier was open at some moment of the call. The barrier opens
// when the set number of members is present at one moment, and closes when it is set. Delivery: a
// set is applied once. Liveness: a client that waits at an open barrier passes, and so do waiters
// of the required number. Watches on Path are not judged.
type Threshold struct {
	// Path is the znode of the barrier; the znodes of the members are below it. If its data is the
	// number of members, the judge knows when a set took effect.
	Path string
	// StaleReads: a wait may rest on the answer of a server that lags behind, and pass a barrier
	// that another client has set again before the call.
	StaleReads bool
	// Patience: a wait that gave up violates liveness if during the whole Patience before its
	// return enough members had waited, or the barrier had been open, and none of them learned of a
	// disconnect or the end of its session. 0 means that this is not judged.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (Threshold) Properties() []string {
	return []string{lin.Safety, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Threshold) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	claims.StaleReads = judging.StaleReads(h, claims.StaleReads)
	t := newThresholdTable(h, claims)
	var r lin.Report
	r.Add(t.judgeSafety())
	if t.log.Known {
		r.Add(t.judgeDelivery())
	}
	r.Add(t.judgeLiveness(left)...)
	if left != nil {
		r.Add(judging.Orphans(judging.WithoutWatches(left, claims.Path), claims.AllowedAtRest,
			judging.LeftBelow(t.history, left, claims.Path), judging.Waits(t.history)))
	}
	if !claims.StaleReads {
		claims.StaleReads = true
		judging.NameStaleReads(&r, h, left, claims)
	}
	return r
}

// thresholdTable is one history of a threshold barrier, with its stays, settings and possible
// openings.
type thresholdTable struct {
	attendance
	claims   Threshold
	settings []setting
	openings []int64 // steps
}

func newThresholdTable(h lin.History, claims Threshold) *thresholdTable {
	t := &thresholdTable{attendance: newAttendance(h, claims.Path), claims: claims}
	for _, op := range t.history.Ops {
		if op.Kind != ops.Wait {
			continue
		}
		s := t.addStay(op)
		if op.OK() {
			s.end = op.Return
		}
	}
	t.settings = settingsOf(t.history, claims.Path)
	t.openings = t.findOpenings()
	return t
}

// findOpenings lists the steps at which the barrier may have opened. It can open only when a client
// comes or the number changes.
func (t *thresholdTable) findOpenings() []int64 {
	var moments []int64
	for _, s := range t.stays {
		moments = append(moments, s.come.Call)
	}
	for _, s := range t.settings {
		moments = append(moments, s.from)
	}
	var list []int64
	for _, step := range moments {
		there := clients(t.at(step))
		for _, s := range t.settings {
			if there >= s.members && t.mayBeNewest(s, step) {
				list = append(list, step)
			}
		}
	}
	return list
}

// mayBeNewest reports whether a setting may be the newest at a step.
func (t *thresholdTable) mayBeNewest(s setting, step int64) bool {
	for _, next := range t.settings {
		if next.after(s) && next.to <= step {
			return false
		}
	}
	return s.from <= step
}

// judgeSafety checks each wait that returned without an error.
func (t *thresholdTable) judgeSafety() lin.Verdict {
	passed := 0
	for _, s := range t.stays {
		if !s.come.OK() {
			continue
		}
		passed++
		if !t.mayPass(s.come) {
			return judging.Violated(lin.Safety, []int64{s.come.Call, s.come.Return},
				"%s passed at step %d, but at no moment of its call was the barrier open: %s",
				s.come.Client, s.come.Return, t.whyClosed(s.come))
		}
	}
	return judging.Fine(lin.Safety, "%s, none before enough were there", judging.Count(passed, "passage"))
}

// mayPass reports whether the barrier may have been open during a call.
func (t *thresholdTable) mayPass(op lin.Op) bool { return len(t.seenOpen(op)) > 0 }

// seenOpen lists the openings that let a wait pass: the barrier may have been open during the call
// or, if the wait may rest on a stale read, since the client's own last set.
func (t *thresholdTable) seenOpen(op lin.Op) (list []int64) {
	from := op.Call
	if t.claims.StaleReads {
		from = t.lastSet(op)
	}
	for _, step := range t.openings {
		if step <= op.Return && (step >= from || t.mayStayOpen(step, from)) {
			list = append(list, step)
		}
	}
	return list
}

// lastSet is the first step after the last set of a client that returned before a call, or 0.
func (t *thresholdTable) lastSet(op lin.Op) (step int64) {
	for _, s := range t.settings {
		if s.op.Client == op.Client && s.op.OK() && s.op.Return <= op.Call {
			step = max(step, min(s.to, s.op.Return)+1)
		}
	}
	return step
}

// mayStayOpen reports whether a barrier that is open at a step may still be open at a later one: no
// set certainly took effect in between.
func (t *thresholdTable) mayStayOpen(step, until int64) bool {
	for _, s := range t.settings {
		if s.from > step && s.to < until {
			return false
		}
	}
	return true
}

// whyClosed prints the greatest number of members present during a call, and the number required.
func (t *thresholdTable) whyClosed(op lin.Op) string {
	most := 0
	for _, s := range t.stays {
		if op.Call <= s.come.Call && s.come.Call <= op.Return || s.come.Call == op.Call {
			most = max(most, clients(t.at(s.come.Call)))
		}
	}
	text := "it was never set"
	for _, s := range t.settings {
		if t.mayBeNewest(s, op.Return) {
			text = "it was set to " + s.op.Input + " by " + judging.Describe(s.op)
		}
	}
	return text + ", and no more than " + judging.Count(most, "member") + " came"
}

// judgeDelivery checks that each set was applied once.
func (t *thresholdTable) judgeDelivery() lin.Verdict {
	for _, s := range t.settings {
		if v, bad := judging.AppliedOnce(s.op, s.changes, false); bad && len(s.changes) > 0 {
			return v
		}
	}
	return judging.Fine(lin.Delivery, "%s, none twice", judging.Count(len(t.settings), "set"))
}

// judgeLiveness looks for waits that never returned, or gave up, and should have returned.
func (t *thresholdTable) judgeLiveness(left *lin.Leftovers) []lin.Verdict {
	for _, s := range t.stays {
		if t.claims.Patience == 0 || s.come.Pending() || s.come.OK() {
			continue
		}
		if why := t.whyShouldHavePassed(s); why != "" {
			return []lin.Verdict{judging.AroundLost(t.log, s.come, judging.Violated(lin.Liveness,
				[]int64{s.come.Call, s.come.Return},
				"%s gave up after %v, though for the last %v, undisturbed, %s",
				judging.Describe(s.come), s.come.ReturnTime-s.come.CallTime,
				t.claims.Patience, why))}
		}
	}
	mayWait := func(op lin.Op) bool { return op.Kind == ops.Wait && t.mayWait() }
	return judging.Returns(t.history, left, mayWait)
}

// whyShouldHavePassed returns the reason why a wait that gave up should have passed, or "".
func (t *thresholdTable) whyShouldHavePassed(s *stay) string {
	since := s.come.ReturnTime - t.claims.Patience
	waiting := t.waitingSince(s, since)
	if len(waiting) == 0 {
		return ""
	}
	need, known := t.need(since, s.come.ReturnTime)
	if n := clients(waiting); known && n >= need {
		return fmt.Sprintf("%s had been waiting, and the barrier was set to %d",
			judging.Count(n, "member"), need)
	}
	if t.disturbed(s, since) || s.come.CallTime > since {
		return ""
	}
	for _, other := range t.stays {
		if other.come.OK() && other.come.ReturnTime <= since &&
			t.staysOpen(other.come, s.come.ReturnTime) {
			return fmt.Sprintf("the barrier had been open: %s had passed at step %d%s",
				other.come.Client, other.come.Return, t.takenBack(other.come))
		}
	}
	return ""
}

// takenBack says that a client deleted its znode when it passed: then others count one less.
func (t *thresholdTable) takenBack(op lin.Op) (text string) {
	for _, z := range t.log.Znodes {
		if z.Creator == op.Client && op.Call <= z.Created && z.Remover == op.Client &&
			z.Deleted <= op.Return && z.Owner != 0 {
			text = fmt.Sprintf(", and had deleted its znode at step %d", z.Deleted)
		}
	}
	return text
}

// need returns the greatest number of members that the barrier may have required in an interval. It
// is unknown if perhaps the barrier was not set.
func (t *thresholdTable) need(from, to time.Duration) (most int, known bool) {
	for _, s := range t.settings {
		if s.fromTime <= to && t.mayBeNewestSince(s, from) {
			most = max(most, s.members)
		}
		known = known || s.toTime < from
	}
	return most, known
}

// mayBeNewestSince reports whether a setting may be the newest at some moment from a time on.
func (t *thresholdTable) mayBeNewestSince(s setting, from time.Duration) bool {
	for _, next := range t.settings {
		if next.after(s) && next.toTime < from {
			return false
		}
	}
	return true
}

// staysOpen reports whether the barrier certainly stayed open, up to a time, after a wait that
// passed: no set takes effect after the call, or after the first opening that a wait with a stale
// read may have seen.
func (t *thresholdTable) staysOpen(op lin.Op, until time.Duration) bool {
	from := op.Call
	if seen := t.seenOpen(op); t.claims.StaleReads && len(seen) > 0 {
		from = min(from, slices.Min(seen)+1)
	}
	for _, s := range t.settings {
		if s.to >= from && s.fromTime <= until {
			return false
		}
	}
	return true
}

// mayWait reports whether calls may wait at rest: there are too few of them, and the barrier may be
// closed.
func (t *thresholdTable) mayWait() bool {
	var waiting []*stay
	for _, s := range t.stays {
		if s.come.Pending() {
			waiting = append(waiting, s)
		}
		if s.come.OK() && t.staysOpen(s.come, t.history.EndTime) {
			return false
		}
	}
	need, known := t.need(t.history.EndTime, t.history.EndTime)
	return !known || clients(waiting) < need
}
