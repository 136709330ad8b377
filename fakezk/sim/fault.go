package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// carryOut performs the actions of package carry.
//
// A World adds to the rules of package carry: a message takes a latency, so that one event of the
// heap delivers one message (link.go), or the schedule picks it (schedule.go); and a connection
// that its client has closed in a black hole is forgotten at once, as there is no server to show
// it.
func (s *simulation) carryOut(actions []carry.Action) {
	for _, a := range actions {
		if a.Conn == nil {
			s.carryOutForAll(a)
		} else {
			s.carryOutOn(s.links[engine.ConnID(a.Conn.ID)], a)
		}
	}
}

func (s *simulation) carryOutForAll(a carry.Action) {
	switch a.Do {
	case carry.Expire:
		s.expireSessionsOf(a)
	case carry.Restart:
		s.restart(a)
	case carry.Crash:
		s.crash(a)
	case carry.Lag:
		s.startLag(a)
	case carry.Isolate:
		s.startIsolation(a)
	case carry.Failover:
		leader := s.engine.Leader()
		s.carryOut(s.net.TakeDown(leader, a.At))
		s.loseServer(leader, a.Fault.For)
	}
}

func (s *simulation) carryOutOn(l *link, a carry.Action) {
	switch a.Do {
	case carry.Struck:
		s.logStrike(l, a)
	case carry.Pause:
		s.pause(l, a)
	case carry.Apply:
		s.process(l, a.Message, a.Fault)
	case carry.Deliver:
		if about := labelOf(a.Message).about; about != nil {
			s.noteArrived(a.Message, s.log(l.client.name, "<- %s", about), false)
		}
		l.deliver(a.Message.Bytes)
	case carry.Send:
		l.send(false, a.Message)
	case carry.Later:
		l.deliverLater(a)
	case carry.Sever:
		s.engine.Drop(l.id)
	case carry.End:
		s.log(l.client.name, "connection %d: %s", l.conn.Number, tracetext.End(a.Err))
		l.fail(a.Err)
		delete(s.links, l.id)
	case carry.Reset:
		s.engine.Drop(l.id)
		l.fail(a.Err)
		delete(s.links, l.id)
	case carry.Forget, carry.Unheard: // Unheard has no effect on the server
		l.conn.Close()
		delete(s.links, l.id)
	case carry.Expire:
		s.expire(s.engine.SessionOf(l.id), a.Late)
		if s.world.servers() > 1 && l.conn.State() == carry.Open {
			s.carryOut(l.conn.ServerClosed(nil)) // a follower hears of the end later
		}
	}
}

// deliver and fail are the only ways in which a connection wakes its client.
func (l *link) deliver(bytes []byte) {
	l.client.markWoken()
	l.noteReply(bytes)
	l.end.HandOver(bytes, l.sim.back)
}

func (l *link) fail(err error) {
	l.client.markWoken()
	l.noteLost()
	l.end.Fail(err)
}

// deliverLater sees to a message that was put back.
func (l *link) deliverLater(a carry.Action) {
	switch {
	case l.sim.order != nil: // it looks for itself
	case a.Up:
		l.sim.schedule(a.At, l.arriveUp)
	default:
		l.sim.schedule(a.At, l.arriveDown)
	}
}

// logStrike notes that a fault acts on a message.
func (s *simulation) logStrike(l *link, a carry.Action) {
	text, strike := tracetext.Hit(a.Fault.Fault, l.client.name, a.Message)
	at := s.log("fault", "%s", text)
	s.notes.Strike(at, strike, &a.Fault.Fired)
	if a.Taken {
		s.noteArrived(a.Message, at, true)
	}
	if a.Taken && a.Message.Event == nil {
		s.notes.Request(at, tracetext.Point(a.Message))
	}
}

// strikeAt lets a fault act at its time. If it finds no connection or session to act on, it counts
// as missed.
func (s *simulation) strikeAt(f *carry.Armed) {
	if s.net.Healed() {
		return
	}
	s.notes.Strike(s.log("fault", "%s", f.Fault), trace.Strike{Fault: f.Fault, Client: f.Client},
		&f.Fired)
	var client int64 // 0: all clients
	for _, c := range s.clients {
		if c.name == f.Client {
			client = c.peer.ID
		}
	}
	if f.Client != "" && client == 0 {
		return // there is no such process, or not yet
	}
	s.carryOut(s.net.Strike(f, client, s.now()))
}

// expireSessionsOf ends the sessions of a client, or of all clients.
func (s *simulation) expireSessionsOf(a carry.Action) {
	for _, c := range s.clients {
		if a.Client != 0 && a.Client != c.peer.ID {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
			if s.expire(id, a.Late) {
				s.carryOut(s.net.Fired(a.Fault))
			}
		}
	}
}

// expire ends a session, with its ephemerals left for a while, if late is not 0, and
// reports whether it was alive. A leader that is down, or without a majority, ends none.
func (s *simulation) expire(session int64, late time.Duration) bool {
	now := s.clock()
	var r engine.Reaction
	var ok bool
	leader := s.engine.Leader()
	if s.net.IsDown(leader, s.now()) || s.net.AloneUntil(leader, s.now()) > 0 {
		return false
	}
	if late > 0 {
		r, ok = s.engine.ExpireLate(session, now.Add(late))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	if ok {
		s.log("server", "expires session %s", tracetext.Session(session))
		s.react(withoutOwnDeletions(r))
	}
	return ok
}

// restart lets the engine forget connections and watches, nothing else; while the
// server is down no session ends.
func (s *simulation) restart(a carry.Action) {
	if s.world.servers() > 1 {
		s.loseServer(a.Server, a.Fault.For)
		return
	}
	s.log("server", "goes down for %s", a.Fault.For)
	s.engine.Restart(s.start.Add(a.At)) // later actions sever its connections
}
