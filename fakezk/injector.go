package fakezk

import (
	"errors"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// injector lets faults act on a Server: it drives a carry.Network, to which every connection of the
// server belongs from the first Inject until ClearFaults. Frames pass through it on their way to
// the engine (takeFrame) and back (takeOutput). It starts no goroutine: one alarm serves everything
// that is bound to a time.
//
// A Server adds to the rules of package carry: it learns the session of a dial from the handshake,
// four-letter words count as handshakes, and the bytes held for a connection are bounded.
type injector struct {
	opts     Options
	engine   *engine.Engine
	names    *sessionNames
	recorder *recorder
	links    *links
	pipeline *pipeline
	absences *absences
	ensemble *ensemble

	net     *carry.Network // nil while no fault is injected; then nothing passes through
	began   time.Time      // from where the network's time counts
	alarm   alarm
	cleared int // the faults that were armed before the last ClearFaults
}

func (in *injector) active() bool { return in.net != nil }

// begin makes the network, unless there is one.
func (in *injector) begin() {
	if in.active() {
		return
	}
	in.net = carry.New()
	in.net.Servers = in.absences.servers
	for _, l := range in.links.of() {
		in.open(l)
	}
}

// arm adds a fault.
func (in *injector) arm(f fault.Fault) {
	in.begin()
	in.net.Arm(f, in.now())
	in.wakeInTime()
}

// stall holds the bytes of the connections of the given sessions, or of all if none is given.
func (in *injector) stall(d time.Duration, sessions []int64) {
	in.begin()
	for _, l := range in.links.of(sessions...) {
		l.conn.Hold(in.now() + d)
	}
}

// list has the faults that were armed since the last clear.
func (in *injector) list() (list []FaultStatus) {
	if !in.active() {
		return nil
	}
	for i, f := range in.net.Armed() {
		list = append(list, FaultStatus{
			Number: in.cleared + i + 1, Fault: f.Fault, Matched: f.Seen, Fired: f.Fired,
		})
	}
	return list
}

// clear disarms all faults and ends their effects: held messages go on, servers that are down serve
// again, and sessions end whose end a fault has put off.
func (in *injector) clear() {
	if in.active() {
		in.carryOut(in.net.Heal(in.now()))
		in.carryOut(in.net.Release())
		in.moveAll()
		in.end()
	}
	in.ensemble.serveNow()
	in.pipeline.deliver(in.engine.ReapEnded(time.Now()))
}

// end takes the network away, with all that it holds.
func (in *injector) end() {
	in.alarm.stop()
	if !in.active() {
		return
	}
	for _, l := range in.links.of() {
		if l.conn = nil; !l.served {
			in.links.forget(l)
		}
	}
	in.cleared += len(in.net.Armed())
	in.net = nil
}

// open adds a connection to the network.
func (in *injector) open(l *link) {
	if in.active() {
		l.conn = &carry.Conn{ID: int64(l.id), Server: l.server, Greeted: l.session != 0}
		l.setSession()
		in.net.Open(l.conn)
	}
}

// setSession gives the connection its session in the network, once that is known.
func (l *link) setSession() {
	if l.conn != nil && l.session != 0 {
		l.conn.Client, l.conn.Number = &carry.Client{ID: l.session, Name: l.name}, l.number
	}
}

// refuses reports whether a fault lets a dial to a server fail.
func (in *injector) refuses(server int) bool {
	if !in.active() {
		return false
	}
	refused, actions := in.net.Refuses(0, server, in.now())
	in.carryOut(actions)
	return refused
}

// now is the network's time.
func (in *injector) now() time.Duration { return time.Since(in.began) }

// wakeInTime sets the timer so that wake is called when there is something to do.
func (in *injector) wakeInTime() {
	if at, ok := in.net.Next(); ok {
		in.wakeAt(at)
	}
	in.absences.wakeInTime()
}

// wakeAt sets the alarm so that wake is called at a time, or before.
func (in *injector) wakeAt(at time.Duration) { in.alarm.set(in.began.Add(at)) }

// wake runs when something is due. Faults bound to a time act in the order in which they were
// armed. Then the messages on held connections move on.
func (in *injector) wake() {
	if !in.active() {
		return // cleared while the alarm rang
	}
	for _, f := range in.net.Due(in.now()) {
		in.net.Strike(f, in.now(), driver{in})
	}
	in.absences.update()
	in.moveAll()
	in.ensemble.follow()
	in.wakeInTime()
}

// takeFrame lets faults act on a frame that arrived. It reports whether the frame needs no further
// handling.
func (in *injector) takeFrame(l *link, frame []byte) bool {
	if !in.active() || l.conn.Greeted && !in.net.Waiting() && l.conn.Idle(in.now()) {
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

// takeWord lets faults act on a four-letter word, and reports whether they have it.
func (in *injector) takeWord(l *link, word []byte) bool {
	if in.active() {
		in.sendUp(l, &carry.Message{Bytes: word, Dials: true, Last: true, Tag: fourLetters{}})
	}
	return in.active()
}

var errGarbage = errors.New("garbage")

// takeGarbage lets faults act on bytes that are no frame, and reports whether they have them.
func (in *injector) takeGarbage(l *link) bool {
	if in.active() {
		in.sendUp(l, &carry.Message{End: errGarbage})
	}
	return in.active()
}

// takeGone notes that a client closed its end. A client that is half gone may still read. The
// result reports whether something is left of the connection.
func (in *injector) takeGone(l *link, half bool) bool {
	in.carryOut(l.conn.ClientClosed(half))
	in.move(l)
	return l.conn.State() != carry.Over
}

// takeHangUp ends a connection that the server closes, and reports whether it is in the network.
func (in *injector) takeHangUp(l *link) bool {
	if in.active() {
		in.carryOut(l.conn.Reset(io.EOF))
	}
	return in.active()
}

// takeOutput lets faults act on output of the server. f, if not nil, is the fault that damages the
// output. The result reports whether the output has been handled.
func (in *injector) takeOutput(l *link, out engine.Output, f *carry.Armed) bool {
	if !in.active() ||
		f == nil && !out.Close && l.conn.Idle(in.now()) && (out.Event == nil || !in.net.Waiting()) {
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
	if in.fits(l, &l.conn.Down, m, in.opts.MaxQueued) {
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
	for _, l := range in.links.of() {
		if in.links.get(l.id) != nil { // nil if it went while others were moved
			in.move(l)
		}
	}
}

// move moves the messages that may move on a connection. A message may have to wait for wake, which
// is due: so the time stands still meanwhile.
func (in *injector) move(l *link) {
	now := in.now()
	for c := l.conn; c.Ready(&c.Up, now); {
		in.carryOut(c.DeliverUp(now))
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
	if m.Tag == (fourLetters{}) {
		in.pipeline.endWord(l, in.pipeline.words.answerNow(l, m.Bytes))
		return
	}
	in.pipeline.finish(l, m.Bytes, in.answer(l, m), f)
	in.carryOut(l.conn.Applied(f, in.now()))
}

// answer is the engine's reaction to a message.
func (in *injector) answer(l *link, m *carry.Message) engine.Reaction {
	if m.Refusal != proto.OK {
		return in.engine.Refuse(l.id, m.Bytes, m.Refusal, time.Now())
	}
	return in.engine.Handle(l.id, m.Bytes, time.Now())
}

// forget ends a connection for its client.
func (in *injector) forget(l *link, err error) {
	in.engine.Drop(l.id)
	in.links.forget(l)
	l.sink.Fail(err)
}

// expire ends a session, with its ephemerals left for a while, if late is not 0, and
// reports whether it was alive. A leader that is down, or without a majority, ends none.
func (in *injector) expire(session int64, late time.Duration) bool {
	now := time.Now()
	if leader := in.engine.Leader(); !in.ensemble.serves(leader) || in.absences.isAlone(leader) {
		return false
	}
	var r engine.Reaction
	var ok bool
	if late > 0 {
		r, ok = in.engine.ExpireLate(session, now.Add(late))
	} else {
		r, ok = in.engine.Expire(session, now)
	}
	in.pipeline.deliver(r)
	if ok {
		in.ensemble.endSession(session)
	}
	return ok
}
