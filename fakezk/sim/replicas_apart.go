package sim

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/marks"
)

// A server is apart when the others have elected a leader without it and it does not know: it
// stands still, or it has led and believes to lead.

// pauseServer lets a server stand still. If it does so for too long, the others go on without it.
func (s *replicas) pauseServer(server int, f *carry.Armed, until time.Duration) {
	s.record.Log("server", "%s stands still for %s", serverName(server), f.For)
	if at := s.faults.LeftBehindAt(server, s.agenda.Now()); at > 0 {
		s.agenda.Schedule(at, func() { s.leaveBehind(server) })
	}
	s.agenda.Schedule(until, func() { s.goOn(server) })
}

// leaveBehind lets the others go on without a server that has stood still for too long. They elect
// a leader if it has led, or if they are no majority.
func (s *replicas) leaveBehind(server int) {
	if s.faults.Healed() || !s.faults.IsLeftBehind(server, s.agenda.Now()) ||
		s.faults.IsApart(server) {
		return
	}
	s.record.Log("server", "the others go on without %s", serverName(server))
	if server == s.engine.Leader() || s.faults.LacksQuorum(s.agenda.Now()) {
		s.elect()
	}
}

// goOn ends the time in which a server stands still. One without which the others have gone on
// joins them: at once, or when it notices that it leads no more.
func (s *replicas) goOn(server int) {
	now := s.agenda.Now()
	leftBehind := s.faults.IsLeftBehind(server, now)
	if s.faults.Healed() || !s.faults.GoOn(server, now) {
		return
	}
	s.record.Log("server", "%s goes on", serverName(server))
	if leftBehind = leftBehind || s.faults.IsApart(server); leftBehind && !s.believes(server) {
		s.join(server, now+electionTime)
	}
}

// believes reports whether a server believes to lead, and does not.
func (s *replicas) believes(server int) bool { return s.faults.BelievesUntil(server) > 0 }

// leaveUnaware lets the servers be apart that do not notice an election which begins now.
func (s *replicas) leaveUnaware() {
	for _, server := range s.faults.LeaveUnaware(s.agenda.Now()) {
		s.engine.Leave(server)
		if s.believes(server) {
			s.agenda.Schedule(s.faults.BelievesUntil(server), func() { s.notice(server) })
		}
	}
}

// notice ends the belief of a server that it leads.
func (s *replicas) notice(server int) {
	now := s.agenda.Now()
	switch until := s.faults.BelievesUntil(server); {
	case s.faults.Healed() || until == 0:
	case until > now: // it has stood still meanwhile
		marks.Hit("notices later")
		s.agenda.Schedule(until, func() { s.notice(server) })
	default:
		s.record.Log("server", "%s notices that it leads no more", serverName(server))
		s.join(server, now+electionTime)
	}
}

// join lets a server that was apart be with the others again, from a time on.
func (s *replicas) join(server int, at time.Duration) {
	s.perform(s.faults.TakeDown(server, at))
}
