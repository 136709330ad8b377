package realworld

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// event is a notification that the server sent: it told a session of the first
// change of its kind behind a zxid.
type event struct {
	session int64
	after   int64
	event   proto.WatcherEvent
}

// received notes a frame from the server, its length before it, also one that the
// client will never see, and puts it on its way to the client.
func (l *link) received(packet []byte) {
	m, frame := &carry.Message{Bytes: packet}, packet[4:]
	var damage *carry.Armed
	h, body, err := wire.DecodeReplyHeader(frame)
	switch {
	case l.session == 0 && len(l.waiting) > 0 && l.waiting[0].Handshake:
		l.handshakeDone(frame, m)
	case err == nil && h.Xid == -1:
		l.notified(body, m)
	case err == nil:
		damage = l.answered(h, body, m)
	}
	l.run.carryOut(l.conn.FromServer(m, damage, l.run.now()))
	l.run.carryOut(l.conn.Applied(damage, l.run.now()))
}

// handshakeDone notes the answer to a handshake.
func (l *link) handshakeDone(frame []byte, m *carry.Message) {
	r, q := l.run, l.waiting[0]
	l.waiting = l.waiting[1:]
	c, err := wire.DecodeConnectResponse(frame)
	if err != nil {
		return
	}
	if old := r.sessions[q.Session]; old != nil && c.SessionID == 0 {
		old.over = true
	}
	q.received, q.Session = len(r.lines), c.SessionID
	m.Tag = tracetext.Reply(q.Request)
	l.session = c.SessionID
	if c.SessionID == 0 {
		return
	}
	r.out.SessionClient[c.SessionID] = l.client.name
	if r.sessions[c.SessionID] == nil {
		r.sessions[c.SessionID] = &session{client: l.client, password: c.Password,
			lastSent: q.sentAt, timeout: time.Duration(c.TimeoutMs) * time.Millisecond}
	}
	l.mark()
	if first := (call{c.SessionID, 0}); r.calls[first] == nil {
		r.calls[first] = q
	}
}

// notified notes a watch notification, as a coordinate too.
func (l *link) notified(body []byte, m *carry.Message) {
	r := l.run
	ev, err := wire.DecodeEvent(body)
	if err != nil {
		return
	}
	m.Event, m.Tag = &ev, tracetext.Event(ev)
	l.watches.fired(ev)
	if !l.catchesUp() && l.lastZxid >= 0 {
		r.events = append(r.events, event{l.session, l.lastZxid, ev})
	}
	if r.closing {
		return
	}
	l.conn.CountEvent(m)
	p := trace.EventPoint{Client: l.client.name, Number: m.Number, Type: ev.Type.String(),
		Path: ev.Path}
	at := r.log("server", "notifies %s: %s %s (event %d)", l.client.name, ev.Type,
		ev.Path, p.Number)
	r.notes.Event(at, p)
}

// catchesUp says that the server is answering a setWatches, with events that are
// due to changes of long ago.
func (l *link) catchesUp() bool {
	return slices.ContainsFunc(l.waiting, func(q *request) bool {
		return q.Header.Op == proto.OpSetWatches
	})
}

// answered notes a reply, and returns the fault that damages it.
func (l *link) answered(h proto.ReplyHeader, body []byte, m *carry.Message) *carry.Armed {
	i := slices.IndexFunc(l.waiting, func(q *request) bool {
		return !q.Handshake && q.Header.Xid == h.Xid
	})
	if i < 0 {
		return nil
	}
	q := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	q.received, q.Zxid, q.Err = len(l.run.lines), h.Zxid, h.Err
	if l.ending && !l.awaitsWrite() {
		l.hangUp()
	}
	l.run.stall(time.Since(q.sentAt))
	if h.Zxid > 0 { // an error of a request that was not carried out may have none
		l.lastZxid = h.Zxid
	}
	if h.Err == proto.OK {
		if reply, err := wire.DecodeReply(q.Header.Op, body); err == nil {
			q.Reply = reply
		}
		l.run.noteIdentity(q)
		if s := l.run.sessions[l.session]; s != nil && q.Header.Op == proto.OpCloseSession {
			s.over = true
		}
	}
	l.watches.asked(q)
	m.Tag = tracetext.Reply(q.Request)
	return q.damage
}
