package fakezk

import (
	"errors"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// injector lets faults act on a Server: it drives a carry.Network, to which every connection of the
// server belongs. A server has one from the first Inject until ClearFaults; the server's mutex
// guards it. Frames pass through it on their way to the engine (takeFrame) and back (takeOutput).
// It starts no goroutine: one timer serves everything that is bound to a time.
//
// A Server adds to the rules of package carry: it learns the session of a dial from the handshake,
// four-letter words count as handshakes, and the bytes held for a connection are bounded.
type injector struct {
	server  *Server
	net     *carry.Network
	began   time.Time // from where the network's time counts
	links   map[engine.ConnID]*link
	timer   *time.Timer
	timerAt time.Duration // 0 if it is not set

	lagging map[int]time.Duration // until when a server applies no change
	givesUp map[int]time.Duration // when a server that is cut off gives up
}

// injection is the server's injector, made when it is first needed.
func (s *Server) injection() *injector {
	if s.inject == nil {
		s.inject = &injector{
			server: s, net: carry.New(), began: time.Now(), links: map[engine.ConnID]*link{},
			lagging: map[int]time.Duration{}, givesUp: map[int]time.Duration{},
		}
		s.inject.net.Serve(carry.Ensemble{
			Servers: s.opts.Servers, Leader: s.engine.Leader, Tick: s.opts.TickTime,
			Stopped: func(server int) bool { return s.ensemble.stopped[server] },
		})
		for _, l := range s.links {
			s.inject.open(l)
		}
	}
	return s.inject
}

// open adds a connection to the network.
func (in *injector) open(l *link) {
	l.conn = &carry.Conn{ID: int64(l.id), Server: l.server, Greeted: l.session != 0}
	l.setSession()
	in.links[l.id] = l
	in.net.Open(l.conn)
}

// setSession gives the connection its session in the network, once that is known.
func (l *link) setSession() {
	if l.conn != nil && l.session != 0 {
		l.conn.Client, l.conn.Number = &carry.Client{ID: l.session, Name: l.name}, l.number
	}
}

// now is the network's time.
func (in *injector) now() time.Duration { return time.Since(in.began) }

// wakeInTime sets the timer so that wake is called when there is something to do.
func (in *injector) wakeInTime() {
	if at, ok := in.net.Next(); ok {
		in.wakeAt(at)
	}
	for _, times := range []map[int]time.Duration{in.lagging, in.givesUp} {
		for _, at := range times {
			if at > in.now() {
				in.wakeAt(at)
			}
		}
	}
}

// wakeAt sets the timer so that wake is called at a time, or before.
func (in *injector) wakeAt(at time.Duration) {
	if in.timerAt != 0 && at >= in.timerAt {
		return
	}
	in.timerAt = max(at, 1)
	if in.timer == nil {
		in.timer = time.AfterFunc(at-in.now(), in.wake)
		return
	}
	in.timer.Reset(at - in.now())
}

// wake runs when something is due: faults bound to a time act in the order in which they were
// armed, then held connections move in theirs.
func (in *injector) wake() {
	s := in.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inject != in {
		return // cleared while the timer fired
	}
	in.timerAt = 0
	for _, f := range in.net.Due(in.now()) {
		in.net.Strike(f, in.now(), driver{in})
	}
	in.updateIsolated()
	in.moveAll()
	s.follow()
	in.wakeInTime()
	s.schedule()
}

// clear disarms everything, releases held messages and ends the injector.
func (in *injector) clear() {
	in.net.Heal()
	for server := range in.server.opts.Servers {
		in.server.engine.CutOff(server, false)
	}
	in.carryOut(in.net.Release())
	in.moveAll()
	in.end()
}

// end stops the timer and takes the injector off the server.
func (in *injector) end() {
	if in.timer != nil {
		in.timer.Stop()
	}
	for _, l := range in.links {
		l.conn = nil
	}
	in.server.cleared += len(in.net.Armed())
	in.server.inject = nil
}

// takeFrame lets faults act on a frame that arrived. It reports whether the frame needs no further
// handling.
func (in *injector) takeFrame(l *link, frame []byte) bool {
	if l.conn.Greeted && !in.net.Waiting() && l.conn.Idle(in.now()) {
		return false
	}
	m := &carry.Message{Bytes: frame}
	if !l.conn.Greeted {
		m.Dials = true
		if req, err := wire.DecodeConnectRequest(frame); err == nil {
			m.Client = req.SessionID
		}
	}
	in.sendUp(l, m)
	return true
}

// fourLetters is the Tag of a four-letter word.
type fourLetters struct{}

// takeWord handles a four-letter word. Bytes after it are ignored.
func (in *injector) takeWord(l *link, word []byte) {
	in.sendUp(l, &carry.Message{Bytes: word, Dials: true, Last: true, Tag: fourLetters{}})
}

var errGarbage = errors.New("garbage")

// takeGarbage notes that a client sent bytes that are no frame.
func (in *injector) takeGarbage(l *link) { in.sendUp(l, &carry.Message{End: errGarbage}) }

// takeGone notes that a client closed its end. A client that is half gone may still read. The
// result reports whether something is left of the connection.
func (in *injector) takeGone(l *link, half bool) bool {
	in.carryOut(l.conn.ClientClosed(half))
	in.move(l)
	return l.conn.State() != carry.Over
}

// takeOutput lets faults act on output of the server. f is the fault that acts on the output of a
// request on its own connection. The result reports whether the output has been handled.
func (in *injector) takeOutput(l *link, out engine.Output, f *carry.Armed) bool {
	if f == nil && !out.Close && l.conn.Idle(in.now()) && (out.Event == nil || !in.net.Waiting()) {
		return false
	}
	m := &carry.Message{Bytes: out.Frame, Event: out.Event}
	if m.Event != nil {
		l.conn.CountEvent(m)
	}
	if out.Frame != nil {
		in.carryOut(l.conn.FromServer(m, f, in.now()))
	}
	if out.Close {
		in.carryOut(l.conn.ServerClosed(f))
	}
	return true
}

// maxHeld bounds the bytes held from the client of a connection. Options.MaxQueued bounds the bytes
// held for the client.
const maxHeld = 64 << 20

// sendUp passes a message of the client on, or keeps it.
func (in *injector) sendUp(l *link, m *carry.Message) {
	if in.fits(l, &l.conn.Up, m, maxHeld) {
		l.conn.QueueUp(m)
		in.move(l)
	}
}

// sendDown passes a message to the client on, or keeps it.
func (in *injector) sendDown(l *link, m *carry.Message) {
	if in.fits(l, &l.conn.Down, m, in.server.opts.MaxQueued) {
		l.conn.QueueDown(m)
		in.moveDown(l)
	}
}

// fits prepares a message for a lane. A connection that would hold too much is reset.
func (in *injector) fits(l *link, lane *carry.Lane, m *carry.Message, limit int) bool {
	now := in.now()
	if !lane.Busy(now) && m.NotBefore <= now {
		return true
	}
	if lane.SizeWith(m) > limit {
		in.carryOut(l.conn.Reset(syscall.ECONNRESET))
		return false
	}
	m.Bytes = slices.Clone(m.Bytes) // which the caller uses again
	return true
}

// moveAll moves the messages that may move on all connections.
func (in *injector) moveAll() {
	for _, id := range slices.Sorted(maps.Keys(in.links)) {
		if l := in.links[id]; l != nil { // nil if it went while others were moved
			in.move(l)
		}
	}
}

// move moves the messages that may move on a connection.
func (in *injector) move(l *link) {
	for c := l.conn; c.Ready(&c.Up, in.now()); {
		in.carryOut(c.DeliverUp(in.now()))
	}
	in.moveDown(l)
}

func (in *injector) moveDown(l *link) {
	for c := l.conn; c.Ready(&c.Down, in.now()); {
		in.carryOut(c.DeliverDown(in.now()))
	}
	if at, ok := l.conn.Next(); ok {
		in.wakeAt(at)
	}
}

// apply lets the server handle a message.
func (in *injector) apply(l *link, m *carry.Message, f *carry.Armed) {
	s := in.server
	if m.Tag == (fourLetters{}) {
		s.answerWord(l, m.Bytes)
		return
	}
	s.process(l, m.Bytes, time.Now(), f)
	in.carryOut(l.conn.Applied(f, in.now()))
}

// forget ends a connection for its client.
func (in *injector) forget(l *link, err error) {
	in.server.drop(l)
	delete(in.links, l.id)
	l.sink.Fail(err)
}

// expire ends a session, with its ephemerals left for a while, if late is not 0, and
// reports whether it was alive. A leader that is down, or without a majority, ends none.
func (in *injector) expire(session int64, late time.Duration) bool {
	s, now := in.server, time.Now()
	if leader := s.engine.Leader(); !s.serves(leader) || s.isAlone(leader) {
		return false
	}
	var r engine.Reaction
	var ok bool
	if late > 0 {
		r, ok = s.engine.ExpireLate(session, now.Add(late))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	s.deliver(r)
	if ok {
		s.endSession(session)
	}
	return ok
}
