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
	l.proxy.carryOut(l.conn.FromServer(m, damage, l.proxy.clock.now()))
	l.proxy.carryOut(l.conn.Applied(damage, l.proxy.clock.now()))
}

// handshakeDone notes the answer to a handshake.
func (l *link) handshakeDone(frame []byte, m *carry.Message) {
	p, q := l.proxy, l.waiting[0]
	l.waiting = l.waiting[1:]
	c, err := wire.DecodeConnectResponse(frame)
	if err != nil {
		return
	}
	if old := p.sessions[q.Session]; old != nil && c.SessionID == 0 {
		old.over = true
	}
	q.received, q.Session = p.journal.length(), c.SessionID
	m.Tag = tracetext.Reply(q.Request)
	l.session = c.SessionID
	if c.SessionID == 0 {
		return
	}
	if p.sessions[c.SessionID] == nil {
		p.sessions[c.SessionID] = &session{client: l.client, password: c.Password,
			lastSent: q.sentAt, timeout: time.Duration(c.TimeoutMs) * time.Millisecond}
	}
	l.mark()
	p.exchanges.greeted(c.SessionID, q)
}

// notified notes a watch notification, as a coordinate too.
func (l *link) notified(body []byte, m *carry.Message) {
	ev, err := wire.DecodeEvent(body)
	if err != nil {
		return
	}
	m.Event, m.Tag = &ev, tracetext.Event(ev)
	l.watches.fired(ev)
	if !l.catchesUp() && l.lastZxid >= 0 {
		l.proxy.exchanges.notified(l.session, l.lastZxid, ev)
	}
	if l.proxy.closing {
		return
	}
	l.conn.CountEvent(m)
	l.proxy.journal.event(trace.EventPoint{
		Client: l.client.name, Number: m.Number, Type: ev.Type.String(), Path: ev.Path,
	})
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
	i := slices.IndexFunc(l.waiting, func(q *request) bool { return q.answeredBy(h) })
	if i < 0 {
		return nil
	}
	q := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	q.received, q.Zxid, q.Err = l.proxy.journal.length(), h.Zxid, h.Err
	if l.ending && !l.awaitsWrite() {
		l.hangUp()
	}
	l.proxy.clock.stall(time.Since(q.sentAt))
	if h.Zxid > 0 { // an error of a request that was not carried out may have none
		l.lastZxid = h.Zxid
	}
	if h.Err == proto.OK {
		if reply, err := wire.DecodeReply(q.Header.Op, body); err == nil {
			q.Reply = reply
		}
		l.proxy.servers.noteIdentity(q)
		if s := l.proxy.sessions[l.session]; s != nil && q.Header.Op == proto.OpCloseSession {
			s.over = true
		}
	}
	if q.refusal == proto.OK {
		l.watches.asked(q)
	}
	m.Tag = tracetext.Reply(q.Request)
	return q.damage
}
