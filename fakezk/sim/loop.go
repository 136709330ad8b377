package sim

import (
	"cmp"
	"slices"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
)

// loop applies the events of a World, one at a time. It runs in the World's goroutine, which alone
// acts: it sleeps until the next event, waits until every other goroutine of the bubble is blocked,
// applies exactly that event, and waits again. Of the World it may touch what is here.
type loop struct {
	agenda    *agenda.Agenda
	journal   *record.Journal
	guard     *guard.Guard
	inbox     *inbox
	order     *order
	turns     *turns
	network   *network
	server    *server
	processes *processes
	dials     *dials

	noDeferral bool // no ping is put off
}

// run applies events until done, the time limit or the step limit.
func (s *loop) run(limit time.Duration, done func() bool) {
	s.agenda.Woke()
	for {
		if s.agenda.TakeWoke() || s.agenda.Crowded || s.turns.on() {
			s.quiesce()
		}
		if done() || s.guard.OutOfBounds(s.agenda.Now()) {
			return
		}
		s.order.plan()
		next, tick := s.next()
		if s.turns.plan(next) {
			next, tick = s.next()
		}
		if s.turns.over() {
			return
		}
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

// runUntil is run without another end than the limits.
func (s *loop) runUntil(limit time.Duration) { s.run(limit, func() bool { return false }) }

func (s *loop) step() {
	s.guard.Step()
	s.journal.NextStep()
}

// quiesce waits until every other goroutine of the bubble is blocked, and takes in their requests
// in canonical order.
func (s *loop) quiesce() {
	for again := true; again; again = s.agenda.TakeWoke() {
		if !s.agenda.Crowded {
			synctest.Wait()
		}
		s.inbox.forgetWakeUps()
		s.catchUp()
		if s.collect() && s.agenda.Crowded {
			s.agenda.Woke()
		}
	}
}

// collect takes in the actions of the clients since the last time, in canonical order, and reports
// whether there was any.
func (s *loop) collect() bool {
	m := s.inbox.take()
	if m.isEmpty() {
		return false
	}
	s.step()
	if !s.agenda.Crowded {
		slices.SortStableFunc(m.written, compareLinks)
		slices.SortStableFunc(m.dials, compareDials)
	}
	for _, l := range m.written {
		l.takeWrites()
	}
	for _, d := range m.dials {
		s.dials.begin(d)
	}
	s.scheduleWaiters(m.waiters)
	s.scheduleWakeUps(m.sleepers)
	for _, p := range m.ended {
		s.processes.scriptEnded(p)
	}
	return true
}

func compareDials(a, b *dialing) int {
	return cmp.Or(cmp.Compare(a.process.index, b.process.index), cmp.Compare(a.connect, b.connect))
}

// next is when the next thing happens: an event, or, if tick is set, the end of a session.
func (s *loop) next() (at time.Duration, tick bool) {
	at, deadline := s.agenda.Next(), s.server.deadline()
	return min(at, deadline), deadline < at
}

func (s *loop) apply(tick bool) {
	if tick {
		s.server.tick()
	} else {
		s.agenda.Apply()
	}
	s.server.replicas.noteStates()
	s.turns.applied()
}

// sleep waits until a time, or until a client does something.
func (s *loop) sleep(until time.Duration) {
	now := s.agenda.Now()
	if s.mayDeferPings() {
		if until > now+nap {
			until = s.sleepEnd(now, until)
		}
		s.inbox.setWakeBy(until)
		defer s.inbox.setWakeBy(awake)
	}
	s.inbox.sleep(until - now)
}
