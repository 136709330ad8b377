package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// server drives the engine: requests go to it, and what it sends goes on its way.
type server struct {
	engine   *engine.Engine
	agenda   *agenda.Agenda
	record   *record.Recorder
	faults   *carry.Network
	network  *network
	replicas *replicas
	perform  func([]carry.Action)
	expired  func(session int64) // a session that the server has ended
	stackOf  struct {            // a request to find the senders of
		Client string
		Number int
	}

	reactions int // of the engine so far
}

// handle lets the engine handle a message and sends the output. A fault, if given, damages the
// output on the same connection.
func (s *server) handle(l *link, m *carry.Message, f *carry.Armed) {
	frame := m.Bytes
	if m.Point.Op == proto.OpSetWatches.String() && !s.agenda.Crowded {
		frame = sortSetWatches(frame)
	}
	r := s.answer(l, m, frame)
	about, at := s.noteRequest(l, m, &r.Request)
	s.record.Arrived(labelOf(m).note, at, false)
	until := s.faults.LagsUntil(l.conn.Server)
	if len(r.Followed) > 0 && s.agenda.Now() < until {
		marks.Hit("write at a lagging server")
		l.conn.HoldReplies(until)
	}
	s.send(r, reply{about, at}, l.conn, f)
	s.perform(l.conn.Applied(f, s.agenda.Now()))
}

// answer is the engine's reaction to a message, whose frame may have been changed.
func (s *server) answer(l *link, m *carry.Message, frame []byte) engine.Reaction {
	if m.Refusal != proto.OK {
		return s.engine.Refuse(l.id, frame, m.Refusal, s.agenda.Clock())
	}
	return s.engine.Handle(l.id, frame, s.agenda.Clock())
}

// react records a reaction of the engine and sends its output.
func (s *server) react(r engine.Reaction) {
	s.send(withoutOwnDeletions(r), reply{}, nil, nil)
}

// reply is the trace's text for a frame that is no event, and the moment of its request.
type reply struct {
	about fmt.Stringer
	from  trace.Moment
}

// send is react for a message: the reply is to it, and the fault damages the output on the
// connection.
func (s *server) send(r engine.Reaction, reply reply, on *carry.Conn, f *carry.Armed) {
	s.noteChanges(r)
	s.reactions++
	for _, out := range r.Out {
		l := s.network.links[out.Conn]
		if l == nil {
			continue
		}
		damage := f
		if l.conn != on {
			damage = nil
		}
		if out.Frame != nil {
			about := reply.about
			if out.Event != nil {
				about = (*tracetext.Event)(out.Event)
			}
			m := newMessage(slices.Clone(out.Frame), about)
			labelOf(m).from = reply.from
			if m.Event = out.Event; m.Event != nil {
				l.conn.CountEvent(m)
				labelOf(m).from = s.record.Event(l.process.name, m)
			}
			s.perform(l.conn.FromServer(m, damage, s.agenda.Now()))
			if damage != nil && labelOf(m).note == 0 {
				l.noteSent(false, m) // it is lost, or its second half is
			}
		}
		if out.Close {
			s.perform(l.conn.ServerClosed(damage))
		}
	}
}

// noteChanges records the changes that the engine made, and plans when followers apply them.
func (s *server) noteChanges(r engine.Reaction) {
	for _, a := range r.Applied {
		s.replicas.replicate(a.Txn.Zxid)
		if a.Txn.Op == proto.OpCloseSession && a.ByServer {
			s.expired(a.Txn.Session)
		}
	}
	s.record.Changes(r)
}

// withoutOwnDeletions leaves out the notifications of the session's own ephemerals that an expired
// session would get before its connection ends. A real server does the two in different threads; in
// a World the end always comes first, which is the harder case.
func withoutOwnDeletions(r engine.Reaction) engine.Reaction {
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

// noteRequest notes a request, and returns its moment and the trace's text for the reply.
func (s *server) noteRequest(l *link, m *carry.Message, r *engine.Request) (
	fmt.Stringer, trace.Moment) {
	if r.Header.Op == proto.OpPing && m.Number == 0 && r.Err == proto.OK && r.Body != nil {
		return &pong, s.record.Log(l.process.name, "-> ping")
	}
	kept := *r
	at := s.logRequest(l, m, &kept)
	if want := s.stackOf; m.Number == want.Number && l.process.name == want.Client &&
		l.connect > 0 {
		s.record.Senders(labelOf(m).note, l.senders(nil))
	}
	if m.Number > 0 {
		s.record.Request(at, m)
	}
	return (*tracetext.Reply)(&kept), at
}

// pong is the reply to a ping, the most frequent request.
var pong = tracetext.Reply{
	Header: proto.RequestHeader{Op: proto.OpPing}, Body: &proto.Simple{Code: proto.OpPing},
}

func (s *server) logRequest(l *link, m *carry.Message, r *engine.Request) trace.Moment {
	p := l.process
	if r.Handshake {
		if r.Session == 0 {
			return s.record.Log(p.name, "-> connect: refused")
		}
		p.sessions[r.Session] = true
		s.record.Session(r.Session, p.name)
		return s.record.Log(p.name, "-> connect: session %s", tracetext.Session(r.Session))
	}
	if m.Number == 0 {
		return s.record.Log(p.name, "-> %s", r.Header.Op)
	}
	if l.ownConn.host == "" {
		p.client.asked.Store(true)
	}
	return s.record.Log(p.name, "-> #%d %s", m.Number, (*tracetext.Request)(r))
}

// expire ends a session, with its ephemerals left for a while, if late is not 0, and
// reports whether it was alive. A leader that is down, or without a majority, ends none.
func (s *server) expire(session int64, late time.Duration) bool {
	now := s.agenda.Clock()
	var r engine.Reaction
	var ok bool
	if !s.replicas.leaderEndsSessions() {
		return false
	}
	if late > 0 {
		r, ok = s.engine.ExpireLate(session, now.Add(late))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	if ok {
		s.record.Log("server", "expires session %s", tracetext.Session(session))
		s.expired(session) // if it is late, before its nodes go
		s.react(r)
	}
	return ok
}

// deadline is when the engine has to end a session, agenda.Never if it never has.
func (s *server) deadline() time.Duration {
	d := s.engine.NextDeadline()
	if d.IsZero() {
		return agenda.Never
	}
	// A leader without a majority ends no session.
	return max(s.agenda.Since(d), s.faults.AloneUntil(s.engine.Leader(), s.agenda.Now()))
}

// tick lets the engine end sessions.
func (s *server) tick() { s.react(s.engine.Tick(s.agenda.Clock())) }
