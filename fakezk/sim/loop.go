package sim

import (
	"testing/synctest"
	"time"
)

// loop applies events until done, the time limit or the step limit.
func (s *simulation) loop(limit time.Duration, done func() bool) {
	s.agenda.Woke()
	for {
		if s.agenda.TakeWoke() || s.world.unordered {
			s.quiesce()
		}
		if done() {
			return
		}
		if s.guard.OutOfBounds(s.agenda.Now()) {
			return
		}
		if s.order != nil {
			s.order.plan()
		}
		next, tick := s.next()
		if s.agenda.Now() < min(next, limit) {
			s.sleep(min(next, limit))
			s.agenda.Woke() // others may have woken at the same instant: let them finish first
			continue
		}
		if next > limit {
			return
		}
		s.step()
		s.apply(tick)
	}
}

func (s *simulation) step() {
	s.guard.Step()
	s.journal.NextStep()
}

// quiesce waits until every other goroutine of the bubble is blocked, and takes in their requests
// in canonical order.
func (s *simulation) quiesce() {
	for again := true; again; again = s.agenda.TakeWoke() {
		if !s.world.unordered {
			synctest.Wait()
		}
		select {
		case <-s.wake:
		default:
		}
		s.catchUp()
		if s.collect() && s.world.unordered {
			s.agenda.Woke()
		}
	}
}

// next is when the next thing happens: an event, or, if tick is set, the engine's own
// deadline.
func (s *simulation) next() (at time.Duration, tick bool) {
	at = s.agenda.Next()
	d := s.engine.NextDeadline()
	if d.IsZero() {
		return at, false
	}
	// A leader without a majority ends no session.
	deadline := max(s.agenda.Since(d), s.net.AloneUntil(s.engine.Leader(), s.agenda.Now()))
	if deadline < at {
		return deadline, true
	}
	return at, false
}

func (s *simulation) apply(tick bool) {
	if tick {
		s.tick()
	} else {
		s.agenda.Apply()
	}
}

// tick lets the engine end expired sessions.
func (s *simulation) tick() { s.react(withoutOwnDeletions(s.engine.Tick(s.agenda.Clock()))) }
