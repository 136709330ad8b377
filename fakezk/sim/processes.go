package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// The process of a client dies while its goroutines cannot be ended. Their actions from then on
// have no effect: their connections are silent, their dials hang, they write no line, and they stop
// where they sleep or write one. At the end of the World, when nothing is recorded any more, they
// reach the server again, so that their calls return and they end. A new process of the client is
// another Client with its own memory. Its name is that of the dead one and an apostrophe.

// processes are those of all clients, also the dead ones.
type processes struct {
	agenda  *agenda.Agenda
	record  *record.Recorder
	guard   *guard.Guard
	inbox   *inbox
	faults  *carry.Network
	turns   *turns
	perform func([]carry.Action)

	list    []*process
	running int // scripts that have not ended, or are to begin
}

// start makes the process of a client, whose script runs from a time on.
func (s *processes) start(actor Actor, at time.Duration) {
	p := s.begin(actor, actor.Name)
	s.running++
	s.agenda.Schedule(at, func() { s.run(p) })
}

// run runs the script of a process. Under turns that waits for its turn.
func (s *processes) run(p *process) {
	if s.turns.on() {
		s.turns.add(trace.Wakes, p, 0, func() { go p.run() })
	} else {
		go p.run()
	}
}

// begin makes a process.
func (s *processes) begin(actor Actor, name string) *process {
	p := newProcess(s.inbox, s.guard, actor, name, len(s.list))
	s.list = append(s.list, p)
	return p
}

// over reports whether all scripts have ended.
func (s *processes) over() bool { return s.running == 0 }

// scriptEnded notes that a script has ended by itself.
func (s *processes) scriptEnded(p *process) {
	p.ended = true
	s.scriptIsOver(p)
}

// scriptIsOver counts a script that has ended, by itself or with its process.
func (s *processes) scriptIsOver(p *process) {
	if !p.done {
		p.done = true
		s.running--
	}
}

// crash ends the processes of a client, or of all clients.
func (s *processes) crash(client int64, f *carry.Armed, until time.Duration) {
	for _, p := range s.list {
		if client != 0 && client != p.peer.ID || p.isDead() {
			continue
		}
		s.perform(s.faults.Fired(f))
		p.client.dead.Store(true)
		s.record.Notice(trace.Notice{Client: p.name, Kind: trace.Died}, "dies")
		if p.done {
			continue
		}
		s.scriptIsOver(p)
		if f.Kind == fault.Respawn {
			s.running++
			s.agenda.Schedule(until, func() { s.respawn(p) })
		}
	}
}

// respawn begins a new process of a client.
func (s *processes) respawn(old *process) {
	if s.faults.Healed() { // the scripts have had their time
		s.running--
		return
	}
	p := s.begin(old.actor, old.name+"'")
	s.record.Log(p.name, "begins")
	s.run(p)
}

// named is the number of the newest client of a name, 0 if there is none.
func (s *processes) named(name string) (client int64) {
	for _, p := range s.list {
		if p.name == name {
			client = p.peer.ID
		}
	}
	return client
}

// sessions are all that a client ever had, or all clients if 0.
func (s *processes) sessions(client int64) (list []int64) {
	for _, p := range s.list {
		if client == 0 || client == p.peer.ID {
			list = append(list, slices.Sorted(maps.Keys(p.sessions))...)
		}
	}
	return list
}

// expired notes a session that has ended for the client that had it.
func (s *processes) expired(session int64) {
	for _, p := range s.list {
		if p.sessions[session] {
			p.client.mu.Lock()
			if p.client.expired == nil {
				p.client.expired = map[int64]bool{}
			}
			p.client.expired[session] = true
			p.client.mu.Unlock()
		}
	}
}

// hadByDead reports whether a session was of a process that has died.
func (s *processes) hadByDead(session int64) bool {
	return slices.ContainsFunc(s.list, func(p *process) bool {
		return p.isDead() && p.sessions[session]
	})
}

// someDied reports whether a process has died, and deadEnded whether all scripts of such have
// ended.
func (s *processes) someDied() bool { return slices.ContainsFunc(s.list, (*process).isDead) }

func (s *processes) deadEnded() bool {
	return !slices.ContainsFunc(s.list, func(p *process) bool { return p.isDead() && !p.ended })
}

// noteBusy notes the clients with scripts that have not ended, and where these are. Of a runaway
// that is known already.
func (s *processes) noteBusy() {
	var all string
	for _, p := range s.list {
		if p.done {
			continue
		}
		if all == "" && s.guard.Runaway() == nil {
			all = bubble.Stacks()
		}
		s.record.Busy(p.name, p.client.stacksIn(all))
	}
}

// scripts is the client of each goroutine that has run a script. Clients whose connections the
// World does not close are left out.
func (s *processes) scripts() map[int64]string {
	all := map[int64]string{}
	for _, p := range s.list {
		if !p.abandoned {
			p.client.noteScripts(all)
		}
	}
	return all
}

// abandon leaves the connections of a process as they are at the end.
func (s *processes) abandon(p *process) { p.abandoned = true }

// closeClients closes the connections that scripts have made.
func (s *processes) closeClients() {
	for _, p := range s.list {
		if !p.abandoned {
			p.client.closeAll()
		}
	}
}

// release ends what the processes have taken of the Go process.
func (s *processes) release() {
	for _, p := range s.list {
		p.releaseNet()
	}
}
