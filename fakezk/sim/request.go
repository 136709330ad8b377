package sim

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// process lets the engine handle a message and sends the output. A fault, if given, damages the
// output on the same connection.
func (s *simulation) process(l *link, m *carry.Message, f *carry.Armed) {
	frame := m.Bytes
	if m.Point.Op == proto.OpSetWatches.String() && !s.world.unordered {
		frame = sortSetWatches(frame)
	}
	r := s.engine.Handle(l.id, frame, s.agenda.Clock())
	about, at := s.noteRequest(l, m, &r.Request)
	s.record.Arrived(labelOf(m).note, at, false)
	if until := s.lagging[l.conn.Server]; len(r.Followed) > 0 && s.agenda.Now() < until {
		l.conn.HoldReplies(until)
	}
	s.send(r, reply{about, at}, l.conn, f)
	s.carryOut(l.conn.Applied(f, s.agenda.Now()))
}

// sortSetWatches rebuilds a SetWatches frame with sorted lists: the client builds them from a map.
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

// react records a reaction of the engine and sends its output.
func (s *simulation) react(r engine.Reaction) { s.send(r, reply{}, nil, nil) }

// reply is the trace's text for a frame that is no event, and the moment of its request.
type reply struct {
	about fmt.Stringer
	from  trace.Moment
}

// send is react for a message: the reply is to it, and the fault damages the output on the
// connection.
func (s *simulation) send(r engine.Reaction, reply reply, on *carry.Conn, f *carry.Armed) {
	s.noteChanges(r)
	s.replies++
	for _, out := range r.Out {
		l := s.links[out.Conn]
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
				labelOf(m).from = s.record.Event(l.client.name, m)
			}
			s.carryOut(l.conn.FromServer(m, damage, s.agenda.Now()))
		}
		if out.Close {
			s.carryOut(l.conn.ServerClosed(damage))
		}
	}
}

// noteChanges records the changes that the engine made, and plans when followers apply them.
func (s *simulation) noteChanges(r engine.Reaction) {
	for _, a := range r.Applied {
		s.replicate(a.Txn.Zxid)
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
func (s *simulation) noteRequest(l *link, m *carry.Message, r *engine.Request) (
	fmt.Stringer, trace.Moment) {
	if r.Header.Op == proto.OpPing && m.Number == 0 && r.Err == proto.OK && r.Body != nil {
		return &pong, s.record.Log(l.client.name, "-> ping")
	}
	kept := *r
	at := s.logRequest(l, m, &kept)
	if want := s.world.StackOf; m.Number == want.Number && l.client.name == want.Client {
		s.record.Senders(l.client.senders())
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

func (s *simulation) logRequest(l *link, m *carry.Message, r *engine.Request) trace.Moment {
	c := l.client
	if r.Handshake {
		if r.Session == 0 {
			return s.record.Log(c.name, "-> connect: refused")
		}
		c.sessions[r.Session] = true
		s.record.Session(r.Session, c.name)
		return s.record.Log(c.name, "-> connect: session %s", tracetext.Session(r.Session))
	}
	if m.Number == 0 {
		return s.record.Log(c.name, "-> %s", r.Header.Op)
	}
	if l.ownConn.host == "" {
		c.asked.Store(true)
	}
	return s.record.Log(c.name, "-> #%d %s", m.Number, (*tracetext.Request)(r))
}
