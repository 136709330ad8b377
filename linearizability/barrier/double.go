package barrier

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Double claims to be a double barrier. Its calls are [ops.Enter] and [ops.Leave]. A client
// is present from its call of enter until its call of leave. If its enter returns an error, it is
// present until the ephemerals of that call are deleted, or else until the return.
//
// Safety: an enter returns only if enough clients were present at one moment of the call. A leave
// returns only after enough of those clients have left, or have lost a session. The judge needs no
// znodes for this.
type Double struct {
	// Path is the directory of its znodes.
	Path string
	// Patience: an enter that gave up violates liveness if enough members had waited during the
	// whole Patience before its return, and none of them learned of a disconnect or the end of its
	// session. It also violates liveness if a member that counted it had entered for that long. 0
	// means that this is not judged.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (Double) Properties() []string {
	return []string{lin.Safety, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Double) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newDoubleTable(h, claims)
	var r lin.Report
	r.Add(t.judgeSafety())
	r.Add(t.judgeLiveness(left)...)
	if left != nil {
		r.Add(
			judging.Orphans(left, claims.AllowedAtRest,
				judging.LeftBelow(t.history, left, claims.Path),
				judging.Waits(t.history)),
		)
	}
	return r
}

// doubleTable is one history of a double barrier, and the stay of each client at it.
type doubleTable struct {
	attendance
	claims Double
	size   int // from the enters; 1 if there are none
}

func newDoubleTable(h lin.History, claims Double) *doubleTable {
	t := &doubleTable{attendance: newAttendance(h, claims.Path), claims: claims, size: 1}
	inside := map[string]*stay{}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		s := inside[op.Client]
		switch {
		case op.Kind == ops.Enter:
			if size, err := strconv.Atoi(op.Input); err == nil {
				t.size = size
			}
			inside[op.Client] = t.addStay(*op)
		case op.Kind == ops.Leave && s != nil && s.come.OK():
			if s.leave == nil || !s.leave.OK() {
				s.leave = op // of several, the one that returns without an error
			}
			s.end = min(s.end, op.Call)
		}
	}
	return t
}

// judgeSafety checks each enter and each leave that returned without an error.
func (t *doubleTable) judgeSafety() lin.Verdict {
	entered, exits := 0, 0
	for _, s := range t.stays {
		if !s.come.OK() {
			continue
		}
		entered++
		groups := t.groupsOf(s)
		if len(groups) == 0 {
			return judging.Violated(lin.Safety, []int64{s.come.Call, s.come.Return},
				"%s entered at step %d, but at no moment of its call were %s there",
				s.come.Client, s.come.Return, judging.Count(t.size, "member"))
		}
		if s.leave == nil || !s.leave.OK() {
			continue
		}
		exits++
		if inside := t.insideAfter(s, groups); inside != nil {
			if !inside.come.OK() {
				return judging.Violated(lin.Safety, []int64{s.come.Call, s.come.Return},
					"%s entered at step %d and had left at step %d, though enough were there only "+
						"with %s, which had neither entered nor gone", s.come.Client, s.come.Return,
					s.leave.Return, inside.come.Client)
			}
			return judging.Violated(lin.Safety, []int64{s.leave.Call, s.leave.Return},
				"%s had left at step %d, but %s, which entered with it, was inside",
				s.come.Client, s.leave.Return, inside.come.Client)
		}
	}
	return judging.Fine(lin.Safety, "%s and %s, none without the others",
		judging.Count(entered, "entry"), judging.Count(exits, "exit"))
}

// groupsOf returns the possible groups of s: for each moment of its enter with enough clients
// present, their stays. Such a moment can begin only with the arrival of a client.
func (t *doubleTable) groupsOf(s *stay) [][]*stay {
	var list [][]*stay
	for _, other := range t.stays {
		step := max(other.come.Call, s.come.Call)
		if all := t.at(step); step <= s.come.Return && clients(all) >= t.size {
			list = append(list, all)
		}
	}
	return list
}

// insideAfter returns a stay that goes on after s has left, if too few members of every possible
// group of s have gone.
func (t *doubleTable) insideAfter(s *stay, groups [][]*stay) *stay {
	var inside *stay
	for _, group := range groups {
		var gone []*stay
		for _, other := range group {
			if other == s || other.isGone(s) {
				gone = append(gone, other)
			} else {
				inside = cmp.Or(inside, other)
			}
		}
		if clients(gone) >= t.size {
			return nil
		}
	}
	return inside
}

// isGone reports whether the stay had ended by the time s left, or a session of its client has
// ended since s came.
func (other *stay) isGone(s *stay) bool {
	for _, step := range other.ended {
		if step >= s.come.Call && step <= s.leave.Return {
			return true
		}
	}
	return other.end <= s.leave.Return
}

// judgeLiveness looks for calls that never returned, or gave up, and should have returned.
func (t *doubleTable) judgeLiveness(left *lin.Leftovers) []lin.Verdict {
	for _, s := range t.stays {
		if t.claims.Patience <= 0 || s.come.Pending() || s.come.OK() {
			continue
		}
		if other := t.enteredWithout(s); other != nil {
			return []lin.Verdict{judging.AroundLost(t.log, s.come, judging.Violated(lin.Liveness,
				[]int64{other.come.Return, s.come.Return},
				"%s entered at step %d with %s, which gave up at step %d, after another %v: "+
					"one has entered, so all that were there must enter",
				other.come.Client, other.come.Return, s.come.Client, s.come.Return,
				s.come.ReturnTime-other.come.ReturnTime))}
		}
		if t.shouldHaveEntered(s) {
			return []lin.Verdict{judging.AroundLost(t.log, s.come, judging.Violated(lin.Liveness,
				[]int64{s.come.Call, s.come.Return},
				"%s gave up after %v, though %s, as many as it takes, had been waiting "+
					"undisturbed for the last %v, and none of them entered", judging.Describe(s.come), s.come.ReturnTime-s.come.CallTime,
				judging.Count(t.size, "member"), t.claims.Patience))}
		}
	}
	return judging.Returns(t.history, left, nil)
}

// enteredWithout returns a member that entered, could not have entered without s, and had been
// inside for the whole patience when s gave up, undisturbed. It returns nil if there is none.
func (t *doubleTable) enteredWithout(s *stay) *stay {
	for _, other := range t.stays {
		if other == s || !other.come.OK() ||
			s.come.ReturnTime-other.come.ReturnTime < t.claims.Patience ||
			t.disturbed(s, other.come.ReturnTime) {
			continue
		}
		groups := t.groupsOf(other)
		needed := len(groups) > 0 && !slices.ContainsFunc(groups, func(group []*stay) bool {
			return clients(group) > t.size || !slices.Contains(group, s)
		})
		if needed {
			return other
		}
	}
	return nil
}

// shouldHaveEntered reports whether enough clients waited with s, long enough, before s gave up. A
// member of another round that was still inside may keep them out.
func (t *doubleTable) shouldHaveEntered(s *stay) bool {
	from := s.come.ReturnTime - t.claims.Patience
	if slices.ContainsFunc(t.stays, func(o *stay) bool {
		return o.come.OK() && o.come.ReturnTime <= from && o.end > s.come.Call &&
			(o.leave == nil || o.leave.CallTime > from)
	}) {
		return false
	}
	return clients(t.waitingSince(s, from)) >= t.size
}
