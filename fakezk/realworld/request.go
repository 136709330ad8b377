package realworld

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// request is a frame from a client with its outcome.
type request struct {
	engine.Request     // complete once answered; of a handshake, first with the session it asks for
	number         int // of the client's requests, 0 if not counted
	point          trace.RequestPoint
	damage         *carry.Armed  // does something to the reply
	refusal        proto.ErrCode // the reply, if the request does not go to the server
	sent           int           // lines of the trace when it went to the server
	sentAt         time.Time
	received       int // likewise, when the answer came; 0: it did not
}

// String is the text of the request in the trace. It is called at the end of the run.
func (q *request) String() string {
	switch {
	case q.Handshake && q.received == 0:
		return "connect: no answer"
	case q.Handshake && q.Session == 0:
		return "connect: refused"
	case q.Handshake:
		return "connect: session " + tracetext.Session(q.Session)
	case q.received == 0:
		return tracetext.RequestWords(q.Request) + ": no answer"
	}
	return tracetext.Request(q.Request).String()
}

// ZnodeData is the data of a znode that the request carries, and that its answer does.
func (q *request) ZnodeData() (sent, read []byte) {
	return tracetext.Request(q.Request).ZnodeData()
}

// requestOf returns the request that goes to the server, with the fault that damages its reply.
func (l *link) requestOf(m *carry.Message, damage *carry.Armed) *request {
	if !l.greeted {
		l.greeted = true
		hello, _ := wire.DecodeConnectRequest(m.Bytes) // the server answers a bad one
		return &request{Request: engine.Request{Handshake: true, Session: hello.SessionID}}
	}
	q := &request{number: m.Number, point: tracetext.Point(m), damage: damage, refusal: m.Refusal}
	q.Session = l.session
	h, body, err := wire.DecodeHeader(m.Bytes)
	if err != nil {
		return q
	}
	q.Header = h
	if q.Body, err = wire.DecodeRequest(h.Op, body); err != nil {
		q.Body = nil
	}
	return q
}

// answeredBy reports whether a reply may be the answer to the request.
func (q *request) answeredBy(h proto.ReplyHeader) bool {
	return !q.Handshake && q.Header.Xid == h.Xid
}

// forward sends a request to the server. The write is into the buffer of a
// connection within this machine, and has a deadline all the same.
func (l *link) forward(q *request, frame []byte) {
	p := l.proxy
	p.journal.request(l.client.name, q)
	q.sent, q.sentAt = p.journal.length(), time.Now()
	l.waiting = append(l.waiting, q)
	p.exchanges.asked(l.session, q)
	if s := p.sessions[l.session]; s != nil {
		s.lastSent = q.sentAt
	}
	if q.refusal != proto.OK {
		l.send(p.guest.root.standIn(q))
		return
	}
	l.watches.setAgain(q)
	l.send(p.guest.root.packetOf(q, frame))
}

// send writes a packet to the server. If the connection is closed, read finds that, too.
func (l *link) send(packet []byte) {
	if err := l.server.SetWriteDeadline(time.Now().Add(time.Second)); err == nil {
		_, _ = l.server.Write(packet)
	}
}
