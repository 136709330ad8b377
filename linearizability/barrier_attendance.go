package linearizability

import "time"

// attendance is who was there, and when, in the history of a barrier.
type attendance struct {
	history History
	path    string // directory of its znodes
	log     serverLog
	stays   []*stay // in the order of their coming
}

// stay is the time in which a client is there.
type stay struct {
	come  Op
	leave *Op
	end   int64   // the step from which it is not there
	ended []int64 // the steps at which sessions of its client ended
}

func newAttendance(h History, path string) attendance {
	h = h.sorted()
	return attendance{history: h, path: path, log: readServer(h.Server)}
}

// comes adds the stay that begins with a call. It has no end, unless the call
// returns an error: then it ends with that, or as soon as the client's znode is gone.
func (a *attendance) comes(op Op) *stay {
	s := &stay{come: op, end: never}
	a.stays = append(a.stays, s)
	if !op.pending() && !op.ok() {
		s.end = op.Return
		if gone := a.withdrawn(op); gone != 0 {
			s.end = gone
		}
	}
	for _, e := range a.history.Server {
		if e.Kind == SessionEnded && (a.log.clients[e.subject()] == op.Client || op.Session != 0 && e.subject() == op.Session) {
			s.ended = append(s.ended, e.Step)
		}
	}
	for _, n := range a.history.Notices {
		if !a.log.known && n.Client == op.Client && n.Kind == SessionExpired {
			s.ended = append(s.ended, n.Step)
		}
	}
	return s
}

// withdrawn is the step at which the last ephemeral went that the client made in a
// call that has failed, 0 if there is none: who was cut off cannot take it back at
// once.
func (a *attendance) withdrawn(op Op) (gone int64) {
	next := int64(never)
	for _, other := range a.history.Ops {
		if other.Client == op.Client && other.Kind == op.Kind && other.Call > op.Call {
			next = min(next, other.Call)
		}
	}
	for _, l := range a.log.lives {
		if l.creator == op.Client && l.owner != 0 && l.born >= op.Call && l.born < next && below(a.path, l.path) {
			gone = max(gone, l.died)
		}
	}
	return gone
}

// at lists who is there at a step.
func (a *attendance) at(step int64) []*stay {
	var list []*stay
	for _, s := range a.stays {
		if s.come.Call <= step && step < s.end {
			list = append(list, s)
		}
	}
	return list
}

// patient lists who was waiting when s gave up, s among them, and had been since a
// time, undisturbed.
func (a *attendance) patient(s *stay, since time.Duration) []*stay {
	var list []*stay
	for _, other := range a.stays {
		if other.come.CallTime <= since && other.come.end() >= s.come.Return && !a.disturbed(other, since) {
			list = append(list, other)
		}
	}
	return list
}

// disturbed reports whether a client was cut off at a time in which it waited, or was
// told of its connection or session since.
func (a *attendance) disturbed(s *stay, since time.Duration) bool {
	if a.history.cutOff(s.come.Client, since) {
		return true
	}
	for _, n := range a.history.Notices {
		if n.Client == s.come.Client && n.Time >= since && n.Step <= s.come.end() {
			return true
		}
	}
	return false
}

// clients lists whose stays they are.
func clients(stays []*stay) []string {
	var ops []Op
	for _, s := range stays {
		ops = append(ops, s.come)
	}
	return clientsOf(ops)
}
