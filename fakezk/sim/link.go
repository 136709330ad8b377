package sim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// link is one simulated network connection. Each message has a latency, and each
// lane of conn keeps its order.
type link struct {
	sim      *simulation
	id       engine.ConnID
	client   *Client
	connect  int // of the calls of Connect of the client; 0: its own code has dialed
	conn     *carry.Conn
	end      *tlsend.Conn // the client's
	ownConn  ownConn
	frames   wire.Splitter
	up, down traffic

	arriveUp, arriveDown func() // deliverUp and deliverDown

	dirty   bool // already in simulation.written; guarded by simulation.mu
	unsent  []byte
	closing bool // the client closed its end; guarded by simulation.mu
	hungUp  bool // ... and the server will hear of it
}

// traffic has the numbers that decide the latencies of one direction of a link.
type traffic struct {
	count int           // messages so far, for the hash
	last  time.Duration // arrival of the newest message
}

// label is the Tag of a message in a World.
type label struct {
	about fmt.Stringer // for the trace: the text of the client's input
	sent  int64        // counts the World's messages
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

// collect takes in the actions of the clients since the last time, in canonical order, and reports
// whether there was any.
func (s *simulation) collect() bool {
	s.mu.Lock()
	sleepers, ended, dials, written := s.sleepers, s.ended, s.dials, s.written
	s.sleepers, s.ended, s.dials, s.written = nil, nil, nil, s.spare
	for _, l := range written {
		l.dirty = false
	}
	s.mu.Unlock()
	defer func() {
		clear(written)
		s.spare = written[:0]
	}()
	if len(sleepers)+len(ended)+len(dials)+len(written) == 0 {
		return false
	}
	s.step()
	if !s.world.unordered {
		slices.SortStableFunc(written, compareLinks)
		slices.SortStableFunc(dials, func(a, b *dialing) int {
			return cmp.Or(cmp.Compare(a.client.index, b.client.index),
				cmp.Compare(a.connect, b.connect))
		})
	}
	for _, l := range written {
		l.takeWrites()
	}
	for _, d := range dials {
		s.beginDial(d)
	}
	s.scheduleWakeUps(sleepers)
	for _, c := range ended {
		c.ended = true
		s.scriptIsOver(c)
	}
	return true
}

func compareLinks(a, b *link) int {
	return cmp.Or(cmp.Compare(a.client.index, b.client.index),
		cmp.Compare(a.conn.Number, b.conn.Number))
}

// onWrite and onClose run in the client's goroutines: they only take note.
func (l *link) onWrite(p []byte) {
	if l.note(p) {
		l.sim.wakeUp()
	}
}

// note takes note of a write, and reports whether the World has to see to it at once.
func (l *link) note(p []byte) bool {
	l.sim.mu.Lock()
	defer l.sim.mu.Unlock()
	if l.deferPing(p) {
		return false
	}
	l.unsent = append(l.unsent, p...)
	l.markDirty()
	return true
}

func (l *link) onClose() {
	l.sim.mu.Lock()
	l.closing = true
	l.markDirty()
	l.sim.mu.Unlock()
	l.sim.wakeUp()
}

func (l *link) markDirty() {
	if !l.dirty {
		l.dirty = true
		l.sim.written = append(l.sim.written, l)
	}
}

// takeWrites sends the client's writes of this step on their way.
func (l *link) takeWrites() {
	l.sim.mu.Lock()
	bytes, closing := l.unsent, l.closing
	l.unsent = nil
	l.sim.mu.Unlock()
	if l.conn.State() == carry.Over {
		return
	}
	frames := l.sim.frames[:0]
	begun := l.frames.Begun()
	if err := l.frames.Feed(bytes, func(f []byte) {
		if begun {
			f, begun = slices.Clone(f), false // it is not within bytes, which is ours
		}
		frames = append(frames, f)
	}); err != nil {
		l.send(true, &carry.Message{End: err})
	}
	l.sim.frames = frames
	if !l.sim.world.unordered {
		slices.SortStableFunc(frames, compareFrames)
	}
	for _, f := range frames {
		if isRequest(f) {
			l.client.counted.Request(l.sim.agenda.Elapsed())
		}
		l.noteRequest(f)
		l.send(true, newMessage(f, nil))
	}
	clear(frames)
	if closing && !l.hungUp {
		l.hungUp = true
		l.noteLost()
		l.send(true, &carry.Message{End: io.EOF})
	}
}

// isRequest reports whether a frame of a client is a request of its script. A handshake begins with
// 0, and the requests of the client's library have negative numbers.
func isRequest(frame []byte) bool {
	return len(frame) >= 8 && int32(binary.BigEndian.Uint32(frame)) > 0
}

// compareFrames orders the requests that several goroutines of one client wrote
// within one step: any order would be right, this one is always the same. Equal
// requests stay as they came: only the goroutines that wait for them can tell them
// apart. SetWatches goes last, where this client's queue puts it nearly always.
func compareFrames(a, b []byte) int {
	return cmp.Or(
		cmp.Compare(frameRank(a), frameRank(b)), bytes.Compare(frameBody(a), frameBody(b)),
	)
}

func frameRank(f []byte) int {
	h, _, err := wire.DecodeHeader(f)
	switch {
	case err != nil:
		return 0
	case h.Op == proto.OpSetWatches:
		return 2
	case h.Op == proto.OpCloseSession:
		return 3
	}
	return 1
}

// frameBody leaves out the xid, which goroutines draw in arrival order.
func frameBody(f []byte) []byte { return f[min(4, len(f)):] }

// send puts a message on its way; it arrives after all before it.
func (l *link) send(up bool, m *carry.Message) {
	lane, t, deliver := &l.conn.Down, &l.down, l.arriveDown
	if up {
		lane, t, deliver = &l.conn.Up, &l.up, l.arriveUp
	}
	t.count++
	l.sim.messages++
	label := labelOf(m)
	label.sent, label.nth = l.sim.messages, t.count
	l.noteSent(up, m)
	if up {
		l.sim.guard.Sent(m.Bytes)
		l.conn.QueueUp(m)
	} else {
		l.conn.QueueDown(m)
	}
	if l.sim.order != nil {
		return // it looks for itself
	}
	at := l.sim.agenda.Now() + l.sim.draws.Message(l.client.index, l.conn.Number, up, t.count)
	if !l.sim.world.unordered {
		at = max(at, t.last+1, lane.OpenFrom())
	}
	t.last = l.sim.agenda.Schedule(at, deliver)
}

// noteSent notes a message that is about to be queued. The end of a connection is none.
func (l *link) noteSent(up bool, m *carry.Message) {
	if m.End == nil && !l.client.dead.Load() {
		label := labelOf(m)
		label.note = l.sim.record.Sent(label.from, trace.Message{Client: l.client.name,
			Conn: l.conn.Number, Up: up, Op: l.opOf(up, m)})
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
		l.sim.carryOut(l.conn.DeliverUp(l.sim.agenda.Now()))
	}
}

func (l *link) deliverDown() {
	if l.mayArrive(&l.conn.Down, l.arriveDown) {
		l.sim.carryOut(l.conn.DeliverDown(l.sim.agenda.Now()))
	}
}

func (l *link) mayArrive(lane *carry.Lane, again func()) bool {
	_, at, ok := lane.First()
	if ok && l.sim.agenda.Now() < at {
		l.sim.agenda.Schedule(at, again)
		return false
	}
	return ok
}
