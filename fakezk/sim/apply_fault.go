package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// takeByFault lets a fault act on a request before it is applied, and reports
// whether the request is taken: lost, or put off.
func (s *simulation) takeByFault(f *carry.Armed, l *link, m message) bool {
	switch f.Kind {
	case fault.DropRequest:
		l.resetSoon()
	case fault.Delay:
		l.hold(&l.up, f.For)
		l.putBack(&l.up, m, l.deliverUp)
	case fault.Stall:
		l.hold(&l.up, f.For)
		l.hold(&l.down, f.For)
		l.putBack(&l.up, m, l.deliverUp)
	case fault.Blackhole, fault.Refuse:
		s.strikeClient(f, l.client)
	case fault.Expire, fault.LateReap:
		s.expire(f, s.engine.SessionOf(l.id))
	case fault.Restart:
		s.restart(f.For)
	default:
		return false
	}
	return true
}

// eventFault lets faults act on a notification that is about to be delivered,
// and reports whether it is taken.
func (s *simulation) eventFault(l *link, m message) bool {
	if len(m.faults) == 0 || !s.faultsOn {
		return false
	}
	f := m.faults[0]
	m.faults = m.faults[1:]
	f.Fired = true
	at := s.log("fault", "%s hits %s's %s", f.Fault, l.client.name, m.about)
	s.notes.Strike(at, trace.Strike{Fault: f.Fault, Client: l.client.name, Op: m.event.Type.String(), Path: m.event.Path}, &f.Fired)
	half := len(m.bytes) / 2
	switch f.Kind {
	case fault.Cut:
		l.reset()
	case fault.CutMidFrame:
		l.conn.Deliver(m.bytes[:half])
		l.reset()
	case fault.StallMidFrame:
		l.conn.Deliver(m.bytes[:half])
		m.bytes, m.faults, m.notBefore = m.bytes[half:], nil, s.now()+f.For
		l.putBack(&l.down, m, l.deliverDown)
	case fault.Stall:
		l.hold(&l.up, f.For)
		l.hold(&l.down, f.For)
		l.putBack(&l.down, m, l.deliverDown)
	case fault.Delay:
		l.hold(&l.down, f.For)
		l.putBack(&l.down, m, l.deliverDown)
	}
	return true
}

// fireAt lets a fault act that is bound to a time. If there is nothing for it to
// act on, a connection or a session, it counts as missed.
func (s *simulation) fireAt(f *carry.Armed) {
	if !s.faultsOn {
		return
	}
	s.notes.Strike(s.log("fault", "%s", f.Fault), trace.Strike{Fault: f.Fault, Client: f.Client}, &f.Fired)
	if f.Kind == fault.Restart {
		f.Fired = true
		s.restart(f.For)
		return
	}
	for _, c := range s.clients {
		if f.Client == "" || f.Client == c.name {
			f.Fired = s.strikeAt(f, c) || f.Fired
		}
	}
}

// strikeAt lets a fault bound to a time act on one client, and reports whether
// there was anything to act on.
func (s *simulation) strikeAt(f *carry.Armed, c *Client) bool {
	switch f.Kind {
	case fault.Blackhole, fault.Refuse:
		return s.strikeClient(f, c)
	case fault.Cut:
		return c.eachLink(func(l *link) { l.resetSoon() })
	case fault.Stall:
		return c.eachLink(func(l *link) { l.hold(&l.up, f.For); l.hold(&l.down, f.For) })
	}
	ended := false
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) { // Expire, LateReap
		ended = s.expire(f, id) || ended
	}
	return ended
}

// strikeClient cuts a client off: by reset and refused dials, or by silence. It
// reports whether there was a connection, or the client is cut off already; if not,
// the fault has acted once a dial is hit.
func (s *simulation) strikeClient(f *carry.Armed, c *Client) bool {
	if f.Kind == fault.Refuse {
		already := c.refuse.Add(f, s.now())
		return c.eachLink(func(l *link) { l.resetSoon() }) || already
	}
	already := c.hang.Add(f, s.now())
	return c.eachLink(func(l *link) { l.lost = true }) || already
}

// expire ends a session, at once or with its ephemerals left for a while, and
// reports whether it was alive.
func (s *simulation) expire(f *carry.Armed, session int64) bool {
	now := time.Now()
	var r engine.Reaction
	var ok bool
	if s.now() < s.downTill {
		return false // a server that is down ends no session
	}
	if f.Kind == fault.LateReap {
		r, ok = s.engine.ExpireLate(session, now.Add(f.For))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	if ok {
		s.log("server", "expires session %s", tracetext.Session(session))
		s.carryOut(withoutLastWords(r), nil, nil)
	}
	return ok
}

// restart takes the server down for a while, or for longer if it is down already.
// It forgets connections and watches, nothing else; while it is down no session ends.
func (s *simulation) restart(down time.Duration) {
	s.log("server", "goes down for %s", down)
	s.downTill = max(s.downTill, s.now()+down)
	for _, out := range s.engine.Restart(s.start.Add(s.downTill)).Out {
		if l := s.links[out.Conn]; l != nil {
			l.resetSoon()
		}
	}
}

// eachLink visits the client's live connections in order, and reports whether
// there were any.
func (c *Client) eachLink(visit func(*link)) bool {
	any := false
	for _, n := range slices.Sorted(maps.Keys(c.links)) {
		if l := c.links[n]; !l.lost && !l.severed {
			visit(l)
			any = true
		}
	}
	return any
}
