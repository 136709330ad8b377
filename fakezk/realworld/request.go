package realworld

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// request is a frame from a client and what became of it.
type request struct {
	engine.Request     // complete once answered
	number         int // of the client's requests, 0 if not counted
	point          trace.RequestPoint
	damage         *carry.Armed // does something to the reply
	sent           int          // lines of the trace when it went to the server
	sentAt         time.Time
	received       int // likewise, when the answer came; 0: it did not
}

// String is what the trace says of it. It is read when all is over.
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

// ask lets faults act on a request, and sends it to the server unless one takes it.
func (l *link) ask(m message) {
	r := l.run
	if m.request == nil {
		m.request, m.faults = l.judge(m.bytes)
	}
	for len(m.faults) > 0 && r.faultsOn {
		f := m.faults[0]
		m.faults = m.faults[1:]
		f.Fired = true
		at := r.log("fault", "%s hits %s's #%d %s", f.Fault, l.client.name, m.request.number,
			strings.TrimSpace(m.request.point.Op+" "+m.request.point.Path))
		r.notes.Strike(at, trace.Strike{Fault: f.Fault, Client: l.client.name, Op: m.request.point.Op, Path: m.request.point.Path}, &f.Fired)
		if carry.DamagesReply(f.Kind) {
			m.request.damage = f
			break
		}
		if l.takeByFault(f, m) {
			if f.Kind != fault.Delay && f.Kind != fault.Stall { // those only put it off
				r.notes.Request(at, m.request.point)
			}
			return
		}
	}
	l.forward(m.request, m.bytes)
}

// judge decodes a request, counts it, and finds the faults that select it.
func (l *link) judge(frame []byte) (*request, []*carry.Armed) {
	q := &request{}
	q.Session = l.session
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		return q, nil
	}
	q.Header = h
	if q.Body, err = wire.DecodeRequest(h.Op, body); err != nil {
		q.Body = nil
	}
	c, ok := carry.RequestCoordinate(l.client.name, l.number, frame)
	if !ok || l.run.closing {
		return q, nil
	}
	l.client.requests++
	q.number = l.client.requests
	q.point = trace.RequestPoint{Client: c.Client, Number: q.number, Conn: c.Conn, Op: c.Op, Path: c.Path}
	if !l.run.faultsOn {
		return q, nil
	}
	return q, carry.Due(l.run.faults, c)
}

// forward sends a request to the server. The write is into the buffer of a
// connection within this machine, and has a deadline all the same.
func (l *link) forward(q *request, frame []byte) {
	r := l.run
	at := l.logRequest(q)
	if q.number > 0 {
		r.notes.Request(at, q.point)
	}
	l.watches.setAgain(q)
	q.sent, q.sentAt = len(r.lines), time.Now()
	l.waiting = append(l.waiting, q)
	r.answers = append(r.answers, q)
	if !q.Handshake && q.Header.Xid > 0 {
		r.calls[call{l.session, q.Header.Xid}] = q
	}
	packet := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	if err := l.server.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return // it is closed, which read tells
	}
	if _, err := l.server.Write(append(packet, frame...)); err != nil {
		return // likewise
	}
}

func (l *link) logRequest(q *request) trace.Moment {
	switch {
	case q.number > 0:
		return l.run.log(l.client.name, "-> #%d %s", q.number, q)
	case q.Handshake:
		return l.run.log(l.client.name, "-> %s", q)
	}
	return l.run.log(l.client.name, "-> %s", q.Header.Op)
}
