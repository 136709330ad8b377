package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// arrive handles a message that reached the server: it counts it as a
// coordinate, lets the faults that select it act, and processes it unless one
// of them took it.
func (s *simulation) arrive(l *link, m message) {
	if !m.judged {
		m.judged = true
		s.judge(l, &m)
	}
	for len(m.faults) > 0 && s.faultsOn {
		f := m.faults[0]
		m.faults = m.faults[1:]
		f.Fired = true
		at := s.log("fault", "%s hits %s's #%d %s", f.Fault, m.point.Client, m.number, strings.TrimSpace(m.point.Op+" "+m.point.Path))
		s.notes.Strike(at, trace.Strike{Fault: f.Fault, Client: m.point.Client, Op: m.point.Op, Path: m.point.Path}, &f.Fired)
		if s.takeByFault(f, l, m) {
			if f.Kind != fault.Delay && f.Kind != fault.Stall { // those only put it off
				s.notes.Request(at, m.point)
			}
			return
		}
		if carry.DamagesReply(f.Kind) {
			s.process(l, m, f)
			return
		}
	}
	s.process(l, m, nil)
}

// judge decodes a message, counts it, and finds the faults that select it.
func (s *simulation) judge(l *link, m *message) {
	if s.engine.SessionOf(l.id) == 0 {
		return // the handshake
	}
	c, ok := carry.RequestCoordinate(l.client.name, l.number, m.bytes)
	if !ok {
		return
	}
	if c.Op == proto.OpSetWatches.String() && !s.world.undisciplined {
		m.bytes = sortSetWatches(m.bytes)
	}
	l.client.requests++
	m.number = l.client.requests
	m.point = trace.RequestPoint{Client: c.Client, Number: m.number, Conn: c.Conn, Op: c.Op, Path: c.Path}
	if s.faultsOn {
		m.faults = carry.Due(s.faults, c)
	}
}

// sortSetWatches rebuilds a SetWatches frame with sorted lists: the client
// builds them from a map.
func sortSetWatches(frame []byte) []byte {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		return frame
	}
	req, err := wire.DecodeRequest(h.Op, body)
	sw, ok := req.(*proto.SetWatches)
	if err != nil || !ok {
		return frame
	}
	slices.Sort(sw.DataWatches)
	slices.Sort(sw.ExistWatches)
	slices.Sort(sw.ChildWatches)
	return wire.AppendRequest(nil, h.Xid, sw)[4:]
}

// process lets the engine handle a message and sends what it causes. A fault,
// if given, damages what goes back on the same connection.
func (s *simulation) process(l *link, m message, f *carry.Armed) {
	r := s.engine.Handle(l.id, m.bytes, time.Now())
	at := s.logRequest(l, m, r.Request)
	if m.number > 0 {
		s.notes.Request(at, m.point)
	}
	s.carryOut(r, tracetext.Reply(r.Request), func(out engine.Output, about fmt.Stringer) bool {
		return f != nil && out.Conn == l.id && s.damage(f, l, out, about)
	})
	if f != nil && f.Kind != fault.StallMidFrame {
		l.resetSoon()
	}
}

// damage does to one outgoing frame what a fault says, and reports whether the
// frame needs no more sending.
func (s *simulation) damage(f *carry.Armed, l *link, out engine.Output, about fmt.Stringer) bool {
	switch carry.DamageTo(f.Kind, out) {
	case carry.Lost:
		return true
	case carry.Unharmed:
		return false
	}
	half := len(out.Frame) / 2
	l.send(&l.down, message{bytes: slices.Clone(out.Frame[:half])})
	if f.Kind == fault.StallMidFrame {
		rest := message{bytes: slices.Clone(out.Frame[half:]), about: about, notBefore: s.now() + f.For}
		l.send(&l.down, rest)
	}
	return true
}

// carryOut records what the engine did and sends what it wants sent. reply is
// what the trace calls a frame that is no event; intercept, if not nil, may
// take an output for itself.
func (s *simulation) carryOut(r engine.Reaction, reply fmt.Stringer, intercept func(engine.Output, fmt.Stringer) bool) {
	s.recordChanges(r)
	for _, out := range r.Out {
		l := s.links[out.Conn]
		if l == nil {
			continue
		}
		about := reply
		var faults []*carry.Armed
		if out.Event != nil {
			about = tracetext.Event(*out.Event)
			faults = s.countEvent(l, out.Event)
		}
		if intercept != nil && intercept(out, about) {
			continue
		}
		if out.Frame != nil {
			l.send(&l.down, message{bytes: slices.Clone(out.Frame), about: about, event: out.Event, faults: faults})
		}
		if out.Close {
			l.endSoon()
		}
	}
}

// withoutLastWords leaves out what an expired session would hear of its own
// ephemerals before its connection ends. A real server does the two in different
// threads; in a World the end always comes first, which is the harder case.
func withoutLastWords(r engine.Reaction) engine.Reaction {
	if !slices.ContainsFunc(r.Out, func(out engine.Output) bool { return out.Close }) {
		return r // as at nearly every tick
	}
	closed := map[engine.ConnID]bool{}
	for _, out := range r.Out {
		closed[out.Conn] = closed[out.Conn] || out.Close
	}
	r.Out = slices.DeleteFunc(slices.Clone(r.Out), func(out engine.Output) bool {
		return out.Event != nil && !out.Close && closed[out.Conn]
	})
	return r
}

func (s *simulation) logRequest(l *link, m message, r engine.Request) trace.Moment {
	c := l.client
	if r.Handshake {
		if r.Session == 0 {
			return s.log(c.name, "-> connect: refused")
		}
		if !c.sessions[r.Session] {
			c.sessions[r.Session] = true
			s.out.SessionClient[r.Session] = c.name
		}
		return s.log(c.name, "-> connect: session %s", tracetext.Session(r.Session))
	}
	if m.number == 0 {
		return s.log(c.name, "-> %s", r.Header.Op)
	}
	return s.log(c.name, "-> #%d %s", m.number, tracetext.Request(r))
}
