package sim

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/trace"
)

// link is one simulated network connection. Each message has a latency, and each
// lane of conn keeps its order.
type link struct {
	net      *network
	id       engine.ConnID
	process  *process
	connect  int // of the calls of Connect of the client; 0: its own code has dialed
	conn     *carry.Conn
	end      *tlsend.Conn // the client's
	ownConn  ownConn
	frames   wire.Splitter
	up, down traffic
	unsent   unsent
	hungUp   bool // the client closed its end, and the server will hear of it
	// asking are the ids of the goroutines that wait for replies, by the first bytes of the
	// requests, which are those of the replies, too; see noteSenders.
	asking map[string]string

	arriveUp, arriveDown func() // deliverUp and deliverDown
}

// traffic has the numbers that decide the latencies of one direction of a link.
type traffic struct {
	count int           // messages so far, for the hash
	last  time.Duration // arrival of the newest message
}

// label is the Tag of a message in a World.
type label struct {
	about fmt.Stringer  // for the trace: the text of the client's input
	sent  int64         // counts the World's messages
	due   time.Duration // see turns, also for after
	after int
	nth   int          // of its direction's messages, from 1
	note  int          // its number among the notes
	from  trace.Moment // of the line that caused it, 0 if it is not known
}

// newMessage is a message with its label.
func newMessage(frame []byte, about fmt.Stringer) *carry.Message {
	m := &struct {
		carry.Message
		label
	}{carry.Message{Bytes: frame}, label{about: about}}
	m.Tag = &m.label
	return &m.Message
}

func labelOf(m *carry.Message) *label {
	if m.Tag == nil {
		m.Tag = &label{}
	}
	return m.Tag.(*label)
}

// takeWrites sends the client's writes of this step on their way.
func (l *link) takeWrites() {
	bytes, closing := l.net.inbox.takeWrites(l)
	if l.conn.State() == carry.Over {
		return
	}
	frames, err := l.net.split(l, bytes)
	if err != nil {
		l.send(true, &carry.Message{End: err})
	}
	var requests []*carry.Message
	for _, f := range frames {
		m := newMessage(f, nil)
		if isRequest(f) {
			l.process.counted.Request(l.net.agenda.Elapsed())
			if l.asking != nil {
				requests = append(requests, m)
			}
		}
		l.ownConn.noteRequest(f)
		l.send(true, m)
	}
	if len(requests) > 0 {
		l.noteSenders(requests)
	}
	clear(frames)
	if closing && !l.hungUp {
		l.hungUp = true
		l.net.record.HungUp(l.process.name, l.conn.Number)
		l.noteLost()
		l.send(true, &carry.Message{End: io.EOF})
	}
}

// send puts a message on its way; it arrives after all before it.
func (l *link) send(up bool, m *carry.Message) {
	n := l.net
	lane, t, deliver := &l.conn.Down, &l.down, l.arriveDown
	if up {
		lane, t, deliver = &l.conn.Up, &l.up, l.arriveUp
	}
	t.count++
	n.sent++
	label := labelOf(m)
	label.sent, label.nth = n.sent, t.count
	n.turn(l.process, up, label)
	l.noteSent(up, m)
	if up {
		l.process.counted.Sent(m.Bytes)
		l.conn.QueueUp(m)
	} else {
		l.conn.QueueDown(m)
	}
	if n.ordered() {
		return // the order looks for itself
	}
	at := n.agenda.Now() + n.draws.Message(l.process.index, l.conn.Number, up, t.count)
	if !n.agenda.Crowded {
		at = max(at, t.last+1, lane.OpenFrom())
	}
	t.last = n.agenda.Schedule(at, deliver)
}

// noteSent notes a message that is about to be queued. The end of a connection is none, and half of
// a message is none either: the other half stands for both.
func (l *link) noteSent(up bool, m *carry.Message) {
	if m.End != nil || l.process.isDead() {
		return
	}
	if label := labelOf(m); up || label.about != nil {
		label.note = l.net.record.Sent(label.from, trace.Message{Client: l.process.name,
			Conn: l.conn.Number, Server: l.conn.Server + 1, Up: up, Op: l.opOf(up, m)})
	}
}

// opOf names a message, as far as its first bytes tell.
func (l *link) opOf(up bool, m *carry.Message) string {
	switch {
	case m.Event != nil:
		return m.Event.Type.String()
	case !up:
		return ""
	case !l.conn.Greeted:
		return "connect"
	}
	if h, _, err := wire.DecodeHeader(m.Bytes); err == nil {
		return h.Op.String()
	}
	return ""
}

// deliverUp lets the next message reach the server, deliverDown the client. If the
// message is on hold, that is put off.
func (l *link) deliverUp() {
	if l.mayArrive(&l.conn.Up, l.arriveUp) {
		l.net.perform(l.conn.DeliverUp(l.net.agenda.Now()))
	}
}

func (l *link) deliverDown() {
	if l.mayArrive(&l.conn.Down, l.arriveDown) {
		l.net.perform(l.conn.DeliverDown(l.net.agenda.Now()))
	}
}

func (l *link) mayArrive(lane *carry.Lane, again func()) bool {
	_, at, ok := lane.First()
	if ok && l.net.agenda.Now() < at {
		l.net.agenda.Schedule(at, again)
		return false
	}
	return ok
}

// handOver and fail are the only ways in which a connection wakes its client.
func (l *link) handOver(bytes []byte) {
	if a := (arrival{bytes: bytes}); !l.renews(bytes) && !l.waits(a) {
		l.reach(a)
	}
}

func (l *link) fail(err error) {
	if a := (arrival{err: err}); !l.waits(a) {
		l.reach(a)
	}
}

// reach lets something reach the client.
func (l *link) reach(a arrival) {
	l.process.woken()
	if a.err != nil {
		l.noteLost()
		l.end.Fail(a.err)
		return
	}
	l.noteReply(a.bytes)
	if len(a.bytes) >= 8 {
		delete(l.asking, string(a.bytes[4:8]))
	}
	l.end.HandOver(a.bytes, l.net.agenda.ClockLag())
}

// renews moves the client's read deadline in place of the reply to a ping. The client of Connect
// makes nothing else of such a reply, so it need not wake. It is false for all other messages.
func (l *link) renews(bytes []byte) bool {
	return l.connect > 0 && !l.net.inbox.world.noDeferral && isPingReply(bytes) &&
		!l.end.Secure() && l.end.Renew(len(bytes), l.net.agenda.ClockLag())
}

// keepReply keeps the caller of a request from the reply.
func (l *link) keepReply(m *carry.Message) (k kept, ok bool) {
	h, _, err := wire.DecodeHeader(m.Bytes)
	conn := l.process.client.conn(l.connect)
	switch {
	case err != nil:
		return nil, false
	case l.connect == 0:
		l.ownConn.withheld = append(l.ownConn.withheld, h.Xid)
		return withheld{l, h.Xid}, true
	case conn == nil:
		return nil, false
	}
	return zkclient.Keep(conn, h.Xid)
}

func compareLinks(a, b *link) int {
	return cmp.Or(cmp.Compare(a.process.index, b.process.index),
		cmp.Compare(a.conn.Number, b.conn.Number))
}
