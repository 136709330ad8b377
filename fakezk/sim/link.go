package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/memnet"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// link is one simulated network connection: two queues of messages, each
// message with its latency, each queue in order.
type link struct {
	sim    *simulation
	id     engine.ConnID
	client *Client
	number int // of the client's connections, from 1
	conn   *memnet.Conn

	frames   wire.Splitter
	up, down queue // to the server, to the client
	lost     bool  // blackhole: bytes vanish
	dead     bool  // nothing is delivered any more, either way
	severed  bool  // the server has forgotten it, the client does not know yet
	dirty    bool  // already in simulation.written; guarded by simulation.mu
	unsent   []byte
	closing  bool // the client closed its end; guarded by simulation.mu
	hungUp   bool // ... and the server will hear of it
}

// queue is one direction of a link.
type queue struct {
	count     int           // messages so far, for the latency's hash
	last      time.Duration // arrival of the newest message
	heldUntil time.Duration // nothing arrives before
	messages  []message
}

// message is a frame on its way, or the end of the connection.
type message struct {
	bytes []byte
	about fmt.Stringer        // for the trace: what the client receives
	event *proto.WatcherEvent // a notification
	end   error               // the connection ends with this error

	sent      int64          // counts the World's messages
	nth       int            // of its queue's messages, from 1
	notBefore time.Duration  // arrives no earlier
	judged    bool           // counted, and faults chosen
	faults    []*carry.Armed // that still have to act on it
	number    int            // of the client's requests, 0 if not counted
	point     trace.RequestPoint
}

// dialing is a dial that waits for the World.
type dialing struct {
	client  *Client
	connect int // of the client's calls of Connect
	timeout time.Duration
	result  chan dialResult
}

type dialResult struct {
	conn net.Conn
	err  error
}

// dial is the dialer of the client's n-th Connect. It blocks until the World decides.
func (c *Client) dial(nth int, timeout time.Duration) (net.Conn, error) {
	d := &dialing{client: c, connect: nth, timeout: timeout, result: make(chan dialResult, 1)}
	c.sim.mu.Lock()
	c.sim.dials = append(c.sim.dials, d)
	c.sim.mu.Unlock()
	c.sim.wakeUp()
	r := <-d.result
	return r.conn, r.err
}

// collect takes in what the clients did since the last time, in canonical
// order, and reports whether there was anything.
func (s *simulation) collect() bool {
	s.mu.Lock()
	sleepers, ended, dials, written := s.sleepers, s.ended, s.dials, s.written
	s.sleepers, s.ended, s.dials, s.written = nil, nil, nil, nil
	for _, l := range written {
		l.dirty = false
	}
	s.mu.Unlock()
	if len(sleepers)+len(ended)+len(dials)+len(written) == 0 {
		return false
	}
	s.step()
	if !s.world.undisciplined {
		slices.SortStableFunc(written, func(a, b *link) int {
			return cmp.Or(cmp.Compare(a.client.index, b.client.index), cmp.Compare(a.number, b.number))
		})
		slices.SortStableFunc(dials, func(a, b *dialing) int {
			return cmp.Or(cmp.Compare(a.client.index, b.client.index), cmp.Compare(a.connect, b.connect))
		})
	}
	for _, l := range written {
		l.takeWrites()
	}
	for _, d := range dials {
		s.beginDial(d)
	}
	s.putToSleep(sleepers)
	for _, c := range ended {
		c.done = true
		s.running--
	}
	return true
}

// beginDial decides when and how a dial ends.
func (s *simulation) beginDial(d *dialing) {
	c := d.client
	c.dials++
	wait := s.latency(c.index, c.dials, 2, 0)
	number := c.dials
	finish := func() { s.finishDial(d, number) }
	switch {
	case s.closing.Load():
	case s.hanging(c):
		finish = d.timeOut
		wait = d.timeout
	case s.refused(c):
		wait = carry.RefusalPause + 10*wait
	}
	s.schedule(s.now()+wait, finish)
}

func (s *simulation) refused(c *Client) bool {
	return s.closing.Load() || c.refuse.Hit(s.now()) || s.now() < s.downTill
}

func (s *simulation) hanging(c *Client) bool { return !s.closing.Load() && c.hang.Hit(s.now()) }

func (d *dialing) timeOut() { d.result <- dialResult{err: os.ErrDeadlineExceeded} }

func (s *simulation) finishDial(d *dialing, number int) {
	c := d.client
	if s.hanging(c) { // it began before the blackhole
		s.schedule(s.now()+d.timeout, d.timeOut)
		return
	}
	if s.refused(c) {
		if !s.closing.Load() {
			s.log(c.name, "dial %d refused", number)
		}
		d.result <- dialResult{err: syscall.ECONNREFUSED}
		return
	}
	s.nextConn++
	l := &link{sim: s, id: s.nextConn, client: c, number: number}
	l.frames.Max = s.world.Server.maxFrame()
	l.conn = memnet.New(l.onWrite, l.onClose)
	s.links[l.id], c.links[number] = l, l
	s.engine.Open(l.id, "127.0.0.1", time.Now())
	s.log(c.name, "connects (connection %d)", number)
	d.result <- dialResult{conn: l.conn}
}

// onWrite and onClose run in the client's goroutines: they only take note.
func (l *link) onWrite(p []byte) {
	l.sim.mu.Lock()
	l.unsent = append(l.unsent, p...)
	l.markDirty()
	l.sim.mu.Unlock()
	l.sim.wakeUp()
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

// takeWrites puts what the client wrote in this step on its way.
func (l *link) takeWrites() {
	l.sim.mu.Lock()
	bytes, closing := l.unsent, l.closing
	l.unsent = nil
	l.sim.mu.Unlock()
	if l.dead {
		return
	}
	var frames [][]byte
	if err := l.frames.Feed(bytes, func(f []byte) { frames = append(frames, slices.Clone(f)) }); err != nil {
		l.send(&l.up, message{end: err})
	}
	if !l.sim.world.undisciplined {
		slices.SortStableFunc(frames, compareFrames)
	}
	for _, f := range frames {
		l.send(&l.up, message{bytes: f})
	}
	if closing && !l.hungUp {
		l.hungUp = true
		l.send(&l.up, message{end: io.EOF})
	}
}

// compareFrames orders the requests that several goroutines of one client wrote
// within one step: any order would be right, this one is always the same. Equal
// requests stay as they came; nobody can tell them apart but who waits for them.
// SetWatches goes last, where this client's queue puts it nearly always.
func compareFrames(a, b []byte) int {
	return cmp.Or(cmp.Compare(frameRank(a), frameRank(b)), bytes.Compare(frameBody(a), frameBody(b)))
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
func (l *link) send(q *queue, m message) {
	q.count++
	l.sim.messages++
	m.sent, m.nth = l.sim.messages, q.count
	q.messages = append(q.messages, m)
	if l.sim.order != nil {
		return // it looks for itself
	}
	direction := 0
	arrive := l.deliverUp
	if q == &l.down {
		direction, arrive = 1, l.deliverDown
	}
	at := l.sim.now() + l.sim.latency(l.client.index, l.number, direction, q.count)
	if !l.sim.world.undisciplined {
		at = max(at, q.last+1, q.heldUntil)
	}
	q.last = l.sim.schedule(at, arrive)
}

// head takes the next message of a queue, unless the queue is held; then the
// arrival is put off.
func (l *link) head(q *queue, again func()) (message, bool) {
	if l.dead || len(q.messages) == 0 {
		return message{}, false
	}
	if until := max(q.heldUntil, q.messages[0].notBefore); l.sim.now() < until {
		l.sim.schedule(until, again)
		return message{}, false
	}
	m := q.messages[0]
	q.messages = q.messages[1:]
	return m, true
}

// putBack makes m the next message again, to arrive when it may.
func (l *link) putBack(q *queue, m message, again func()) {
	q.messages = slices.Insert(q.messages, 0, m)
	if l.sim.order != nil {
		return
	}
	l.sim.schedule(max(q.heldUntil, m.notBefore), again)
}

// hold keeps a queue from moving for a while.
func (l *link) hold(q *queue, d time.Duration) { q.heldUntil = max(q.heldUntil, l.sim.now()+d) }

// deliverUp hands the next message to the server.
func (l *link) deliverUp() {
	m, ok := l.head(&l.up, l.deliverUp)
	switch {
	case l.lost && ok && m.end == io.EOF: // the client gave up; the server does not hear of it
		l.kill()
	case !ok || l.lost || l.severed && m.end == nil:
	case m.end == io.EOF:
		l.sim.engine.Drop(l.id)
		l.kill()
	case m.end != nil: // garbage
		l.endSoon()
	default:
		l.sim.arrive(l, m)
	}
}

// deliverDown hands the next message to the client.
func (l *link) deliverDown() {
	m, ok := l.head(&l.down, l.deliverDown)
	if !ok || l.lost {
		return
	}
	if m.event != nil && l.sim.eventFault(l, m) {
		return
	}
	if m.about != nil {
		l.sim.log(l.client.name, "<- %s", m.about)
	}
	if m.end != nil {
		l.sim.log(l.client.name, "connection %d: %s", l.number, tracetext.End(m.end))
		l.conn.Fail(m.end)
		l.sim.engine.Drop(l.id)
		l.kill()
		return
	}
	l.conn.Deliver(m.bytes)
}

// reset ends the connection at once: the server forgets it, the client gets
// an error with its next read.
func (l *link) reset() {
	if l.dead {
		return
	}
	l.sim.engine.Drop(l.id)
	l.conn.Fail(syscall.ECONNRESET)
	l.kill()
}

// resetSoon and endSoon end the connection for the server now, and for the
// client after what is under way to it.
func (l *link) resetSoon() { l.endWith(syscall.ECONNRESET) }
func (l *link) endSoon()   { l.endWith(io.EOF) }

func (l *link) endWith(err error) {
	l.sim.engine.Drop(l.id)
	l.severed = true
	l.up.messages = nil
	l.send(&l.down, message{end: err})
}

func (l *link) kill() {
	l.dead = true
	l.up.messages, l.down.messages = nil, nil
	delete(l.sim.links, l.id)
	delete(l.client.links, l.number)
}
