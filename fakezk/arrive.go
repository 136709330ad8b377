package fakezk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
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
		f.fired = true
		at := s.log("fault", "%s hits %s's #%d %s", f.Fault, m.point.Client, m.number, strings.TrimSpace(m.point.Op+" "+m.point.Path))
		s.strike(at, f, m.point.Client, m.point.Op, m.point.Path)
		if s.takeByFault(f, l, m) {
			if f.Kind != Delay && f.Kind != Stall { // those only put it off
				s.requests = append(s.requests, pendingRequest{m.point, at})
			}
			return
		}
		if f.Kind.damagesReply() {
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
	c, ok := requestCoordinate(l.client.name, l.number, m.bytes)
	if !ok {
		return
	}
	if c.op == proto.OpSetWatches.String() && !s.world.undisciplined {
		m.bytes = sortSetWatches(m.bytes)
	}
	l.client.requests++
	m.number = l.client.requests
	m.point = RequestPoint{Client: c.client, Number: m.number, Conn: c.conn, Op: c.op, Path: c.path}
	if s.faultsOn {
		m.faults = due(s.faults, c)
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
func (s *simulation) process(l *link, m message, f *faultState) {
	r := s.engine.Handle(l.id, m.bytes, time.Now())
	at := s.logRequest(l, m, r.Request)
	if m.number > 0 {
		s.requests = append(s.requests, pendingRequest{m.point, at})
	}
	s.carryOut(r, replyLine(r.Request), func(out engine.Output, about fmt.Stringer) bool {
		return f != nil && out.Conn == l.id && s.damage(f, l, out, about)
	})
	if f != nil && f.Kind != StallMidFrame {
		l.resetSoon()
	}
}

// damage does to one outgoing frame what a fault says, and reports whether the
// frame needs no more sending.
func (s *simulation) damage(f *faultState, l *link, out engine.Output, about fmt.Stringer) bool {
	switch f.Kind.damageTo(out) {
	case lost:
		return true
	case unharmed:
		return false
	}
	half := len(out.Frame) / 2
	l.send(&l.down, message{bytes: slices.Clone(out.Frame[:half])})
	if f.Kind == StallMidFrame {
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
		var faults []*faultState
		if out.Event != nil {
			about = eventLine(*out.Event)
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

func (s *simulation) logRequest(l *link, m message, r engine.Request) Moment {
	c := l.client
	if r.Handshake {
		if r.Session == 0 {
			return s.log(c.name, "-> connect: refused")
		}
		if !c.sessions[r.Session] {
			c.sessions[r.Session] = true
			s.out.SessionClient[r.Session] = c.name
		}
		return s.log(c.name, "-> connect: session %s", sessionText(r.Session))
	}
	if m.number == 0 {
		return s.log(c.name, "-> %s", r.Header.Op)
	}
	return s.log(c.name, "-> #%d %s", m.number, requestLine(r))
}

// What the trace says of requests, replies and events is put into words when
// it is read.
type (
	requestLine engine.Request
	replyLine   engine.Request
	eventLine   proto.WatcherEvent
)

func (r requestLine) String() string {
	return requestText(engine.Request(r)) + ": " + outcomeText(engine.Request(r))
}

func (r replyLine) String() string { return replyText(engine.Request(r)) }

func (e eventLine) String() string { return fmt.Sprintf("event %s %s", e.Type, e.Path) }

func sessionText(id int64) string { return fmt.Sprintf("0x%016x", uint64(id)) }

func requestText(r engine.Request) string {
	switch b := r.Body.(type) {
	case *proto.Create:
		return fmt.Sprintf("%s%s %s", b.Op(), flagText(b.Flags), b.Path)
	case *proto.Multi:
		parts := make([]string, len(b.Ops))
		for i, op := range b.Ops {
			parts[i] = op.Op().String() + " " + pathOf(op)
		}
		return "multi (" + strings.Join(parts, ", ") + ")"
	case *proto.Exists:
		return "exists" + watchText(b.Watch) + " " + b.Path
	case *proto.GetData:
		return "getData" + watchText(b.Watch) + " " + b.Path
	case *proto.GetChildren:
		return b.Op().String() + watchText(b.Watch) + " " + b.Path
	case *proto.SetWatches:
		return fmt.Sprintf("setWatches since zxid %d: data %v, exist %v, child %v",
			b.RelativeZxid, b.DataWatches, b.ExistWatches, b.ChildWatches)
	case nil:
		return r.Header.Op.String() + " (undecodable)"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s", r.Header.Op, pathOf(r.Body)), " ")
}

func watchText(watch bool) string {
	if watch {
		return "+watch"
	}
	return ""
}

func flagText(flags int32) string {
	names := []string{"", " ephemeral", " sequential", " ephemeral sequential", " container", " ttl", " ttl sequential"}
	if flags >= 0 && int(flags) < len(names) {
		return names[flags]
	}
	return fmt.Sprintf(" flags(%d)", flags)
}

// outcomeText tells how a request ended at the server.
func outcomeText(r engine.Request) string {
	zxid := fmt.Sprintf("zxid %d", r.Zxid)
	if r.Err != proto.OK {
		return fmt.Sprintf("%s, %s", r.Err, zxid)
	}
	switch b := r.Reply.(type) {
	case proto.PathReply:
		if r.Header.Op != proto.OpSync {
			return fmt.Sprintf("ok %s, %s", b.Path, zxid)
		}
	case proto.ChildrenReply:
		return fmt.Sprintf("ok %v, %s", b.Names, zxid)
	case proto.ChildrenStatReply:
		return fmt.Sprintf("ok %v, %s", b.Names, zxid)
	case proto.MultiReply:
		return multiText(b) + ", " + zxid
	}
	return "ok, " + zxid
}

func multiText(b proto.MultiReply) string {
	for _, res := range b.Results {
		if res.Err != proto.OK && res.Err != proto.RuntimeInconsistency {
			return "failed, " + res.Err.String()
		}
	}
	return "ok"
}

// replyText is what the trace shows when the reply reaches the client.
func replyText(r engine.Request) string {
	switch {
	case r.Handshake && r.Session == 0:
		return "connect: refused, session expired"
	case r.Handshake:
		return "connect: session " + sessionText(r.Session)
	case r.Body == nil:
		return fmt.Sprintf("%s: %s", r.Header.Op, r.Err)
	}
	text := r.Err.String()
	if m, ok := r.Reply.(proto.MultiReply); ok {
		text = multiText(m)
	}
	return fmt.Sprintf("%s: %s", r.Header.Op, text)
}
