package sim

import (
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/trace"
)

// The process of a client dies while its goroutines cannot be ended. Their actions from then on
// have no effect: their connections are silent, their dials hang, they write no line, and they stop
// where they sleep or write one. At the end of the World, when nothing is recorded any more, they
// reach the server again, so that their calls return and they end. A new process of the client is
// another Client with its own memory. Its name is that of the dead one and an apostrophe.

// crash ends the processes of a client, or of all clients.
func (s *simulation) crash(client int64, f *carry.Armed, until time.Duration) {
	for _, c := range s.clients {
		if client != 0 && client != c.peer.ID || c.dead.Load() {
			continue
		}
		s.carryOut(s.net.Fired(f))
		c.dead.Store(true)
		s.record.Notice(c.name, trace.Died, "dies")
		if c.done {
			continue
		}
		s.scriptIsOver(c)
		if f.Kind == fault.Respawn {
			s.running++
			s.agenda.Schedule(until, func() { s.respawn(c) })
		}
	}
}

// respawn begins a new process of a client.
func (s *simulation) respawn(old *Client) {
	if s.net.Healed() { // the scripts have had their time
		s.running--
		return
	}
	c := s.newClient(old.actor, old.name+"'")
	s.record.Log(c.name, "begins")
	go s.script(c)
}

// deadSessionsEnd is when all servers know that the sessions of dead processes have ended. It is
// late if the leader has been down, which restarts their timers.
func (s *simulation) deadSessionsEnd() (until time.Duration) {
	for _, c := range s.clients {
		if !c.dead.Load() {
			continue
		}
		for _, session := range s.engine.Sessions() {
			if c.sessions[session.ID] {
				until = max(until, s.agenda.Since(session.ExpiresAt)+time.Second)
			}
		}
	}
	return until
}

// blockIfDead stops a goroutine of a process that has died, until the World ends.
func (c *Client) blockIfDead() {
	if c.dead.Load() && !c.sim.closing.Load() {
		<-c.sim.ctx.Done()
	}
}

// hangIfDead lets the dial of a dead process hang until the end of the World.
func (s *simulation) hangIfDead(d *dialing) bool {
	hangs := d.client.dead.Load() && !s.closing.Load()
	if hangs {
		s.deadDials = append(s.deadDials, d)
	}
	return hangs
}

// deadScriptsEnded reports whether all scripts of dead processes have ended.
func (s *simulation) deadScriptsEnded() bool {
	return !slices.ContainsFunc(s.clients, func(c *Client) bool {
		return c.dead.Load() && !c.ended
	})
}

// endDeadScripts lets the scripts of dead processes end, which has no effect on the result. It
// gives them a minute.
func (s *simulation) endDeadScripts() {
	s.endingDead = true
	graves := s.deadDials
	s.deadDials = nil
	for _, d := range graves {
		s.beginDial(d)
	}
	s.loop(s.agenda.Now()+time.Minute, s.deadScriptsEnded)
	s.endingDead = false
}

// endDeadDials ends the dials of dead processes, so that their connections can be closed.
func (s *simulation) endDeadDials() {
	for _, d := range s.deadDials {
		d.end(dialResult{err: syscall.ECONNREFUSED})
	}
	s.deadDials = nil
}

// drainTime is how long code goes on after its connection was closed. That of a process that has
// died may be in the middle of a long pause.
func (s *simulation) drainTime() time.Duration {
	if slices.ContainsFunc(s.clients, func(c *Client) bool { return c.dead.Load() }) {
		return 10 * time.Minute
	}
	return 2 * time.Second
}
