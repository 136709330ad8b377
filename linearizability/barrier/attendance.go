package barrier

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// attendance holds the stays of all clients at a barrier.
type attendance struct {
	history lin.History
	path    string // directory of its znodes
	log     judging.Log
	stays   []*stay // in the order of their calls
}

// stay is the time in which a client is at a barrier.
type stay struct {
	come  lin.Op // the call with which it begins
	leave *lin.Op
	end   int64   // the step from which the client is not there
	ended []int64 // the steps at which sessions of the client ended
}

func newAttendance(h lin.History, path string) attendance {
	h = h.Sorted()
	return attendance{history: h, path: path, log: judging.ReadLog(h.Server)}
}

// addStay adds the stay that begins with a call. If the call returns an error, the stay ends with
// the return, or earlier with the delete of the client's znode. Otherwise it has no end yet.
func (a *attendance) addStay(op lin.Op) *stay {
	s := &stay{come: op, end: judging.Never}
	a.stays = append(a.stays, s)
	if !op.Pending() && !op.OK() {
		s.end = op.Return
		if gone := a.withdrawn(op); gone != 0 {
			s.end = gone
		}
	}
	for _, e := range a.history.Server {
		own := a.log.Clients[judging.Subject(e)] == op.Client ||
			op.Session != 0 && judging.Subject(e) == op.Session
		if e.Kind == lin.SessionEnded && own {
			s.ended = append(s.ended, e.Step)
		}
	}
	for _, n := range a.history.Notices {
		if !a.log.Known && n.Client == op.Client && judging.IsOneOf(n.Kind,
			[]lin.NoticeKind{lin.SessionExpired}) {
			s.ended = append(s.ended, n.Step)
		}
	}
	return s
}

// withdrawn returns the step of the last delete among the ephemerals that the client created during
// a failed call, or 0. A disconnected client cannot delete at once, so the step may be after the
// call.
func (a *attendance) withdrawn(op lin.Op) (gone int64) {
	next := int64(judging.Never)
	for _, other := range a.history.Ops {
		if other.Client == op.Client && other.Kind == op.Kind && other.Call > op.Call {
			next = min(next, other.Call)
		}
	}
	for _, z := range a.log.Znodes {
		if z.Creator == op.Client && z.Owner != 0 && z.Created >= op.Call && z.Created < next &&
			judging.Below(a.path, z.Path) {
			gone = max(gone, z.Deleted)
		}
	}
	return gone
}

// at lists the stays that include a step.
func (a *attendance) at(step int64) []*stay {
	var list []*stay
	for _, s := range a.stays {
		if s.come.Call <= step && step < s.end {
			list = append(list, s)
		}
	}
	return list
}

// waitingSince lists the stays, including s, that waited without a disconnect from a time until s
// gave up.
func (a *attendance) waitingSince(s *stay, since time.Duration) []*stay {
	var list []*stay
	for _, other := range a.stays {
		if other.come.CallTime <= since && judging.End(other.come) >= s.come.Return &&
			!a.disturbed(other, since) {
			list = append(list, other)
		}
	}
	return list
}

// disturbed reports whether a waiting client was disconnected at a time, or got a notice after it.
func (a *attendance) disturbed(s *stay, since time.Duration) bool {
	if judging.CutOff(a.history, s.come.Client, since) {
		return true
	}
	for _, n := range a.history.Notices {
		if n.Client == s.come.Client && n.Time >= since && n.Step <= judging.End(s.come) {
			return true
		}
	}
	return false
}

// clients returns the number of different clients among the stays.
func clients(stays []*stay) int {
	var calls []lin.Op
	for _, s := range stays {
		calls = append(calls, s.come)
	}
	return len(judging.Clients(calls))
}
