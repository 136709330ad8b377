package fakezk

import (
	"errors"
	"io"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// ignores says that nothing a client sends reaches the server any more.
func (in *injector) ignores(l *serverLink) bool {
	d := l.detour
	return d != nil && (d.lost || d.deaf)
}

// take lets faults act on a frame that arrived, and reports whether the frame
// is taken: on hold, lost, or handled already.
func (in *injector) take(l *serverLink, frame []byte, now time.Time) bool {
	if d := l.detour; d != nil && d.up.busy(now) {
		in.keep(l, &d.up, parcel{bytes: frame})
		return true
	}
	return in.actOnFrame(l, parcel{bytes: frame}, now)
}

// takeWord is take for a four-letter word, which comes on a connection that has
// no session, and after which nothing counts.
func (in *injector) takeWord(l *serverLink, word []byte, now time.Time) bool {
	p := parcel{bytes: word, word: true}
	if d := l.detour; d != nil && d.up.busy(now) {
		in.keep(l, &d.up, p)
	} else if !in.actOnHandshake(l, p, now) {
		return false
	}
	if l.detour != nil {
		l.detour.deaf = true
	}
	return true
}

// actOnFrame lets the faults that select a frame act before the server handles
// it, and reports whether the frame is taken.
func (in *injector) actOnFrame(l *serverLink, p parcel, now time.Time) bool {
	if in.server.engine.SessionOf(l.id) == 0 {
		return in.actOnHandshake(l, p, now)
	}
	if !p.judged {
		p.judged = true
		p.faults = in.judge(l, p.bytes)
	}
	if len(p.faults) == 0 {
		return false
	}
	f := p.faults[0]
	p.faults = p.faults[1:] // which act if it puts the frame off
	in.fire(f)
	if carry.DamagesReply(f.Kind) {
		in.damageReply(f, l, p.bytes, now)
	} else {
		in.takeByFault(f, l, p, now)
	}
	return true
}

// judge counts a request and finds the faults whose turn it is.
func (in *injector) judge(l *serverLink, frame []byte) []*carry.Armed {
	if len(in.waiting) == 0 {
		return nil
	}
	c, ok := carry.RequestCoordinate(l.name, l.number, frame)
	if !ok {
		return nil
	}
	return in.due(c)
}

// takeByFault lets a fault act on a request instead of the server, which gets it
// later or never.
func (in *injector) takeByFault(f *carry.Armed, l *serverLink, p parcel, now time.Time) {
	session := in.server.engine.SessionOf(l.id)
	switch f.Kind {
	case fault.DropRequest:
		in.resetSoon(l, now)
	case fault.Delay:
		d := in.detour(l)
		in.hold(now.Add(f.For), &d.up)
		d.up.putBack(p)
	case fault.Stall:
		in.stall(l, now.Add(f.For))
		l.detour.up.putBack(p)
	case fault.Blackhole, fault.Refuse:
		in.strike(f, session, now)
	case fault.Expire, fault.LateReap:
		in.expire(f, session, now)
	case fault.Restart:
		in.restart(f.For, now)
	}
}

// damageReply handles a request and lets a fault damage what goes back on its
// connection.
func (in *injector) damageReply(f *carry.Armed, l *serverLink, frame []byte, now time.Time) {
	s := in.server
	r := s.engine.Handle(l.id, frame, now)
	s.noteApplied(r.Applied)
	for _, out := range r.Out {
		to := s.links[out.Conn]
		switch {
		case to == nil:
		case to == l:
			in.damage(f, l, out, in.count(l, out), now)
		default:
			s.emit(to, out)
		}
	}
	if f.Kind != fault.StallMidFrame {
		in.resetSoon(l, now)
	}
}

// damage does to one output what a fault says. What other faults would do to it
// comes after, unless it is lost.
func (in *injector) damage(f *carry.Armed, l *serverLink, out engine.Output, others []*carry.Armed, now time.Time) {
	switch carry.DamageTo(f.Kind, out) {
	case carry.Lost:
	case carry.Unharmed:
		in.sendOutput(l, out, others, now)
	case carry.Torn:
		half := len(out.Frame) / 2
		in.send(l, parcel{bytes: out.Frame[:half]}, now)
		if f.Kind == fault.StallMidFrame && in.server.links[l.id] == l {
			in.sendLate(l, parcel{bytes: out.Frame[half:], notBefore: now.Add(f.For)})
		}
	}
}

// takeOutput lets faults act on what the server sends, and reports whether
// that is taken care of.
func (in *injector) takeOutput(l *serverLink, out engine.Output) bool {
	faults := in.count(l, out)
	if l.detour == nil && len(faults) == 0 {
		return false
	}
	in.sendOutput(l, out, faults, time.Now())
	return true
}

// count counts a notification, also one that is about to be lost, and finds the
// faults whose turn it is.
func (in *injector) count(l *serverLink, out engine.Output) []*carry.Armed {
	if out.Event == nil || len(in.waiting) == 0 {
		return nil
	}
	return in.due(fault.Coordinate{Event: true, Client: l.name, Conn: l.number, Path: out.Event.Path})
}

// sendOutput is Server.emit with faults that act on the frame.
func (in *injector) sendOutput(l *serverLink, out engine.Output, faults []*carry.Armed, now time.Time) {
	if out.Frame != nil {
		in.send(l, parcel{bytes: out.Frame, faults: faults}, now)
	}
	if out.Close {
		in.endWith(l, io.EOF, now)
	}
}

// send delivers to the client, or keeps what has to wait.
func (in *injector) send(l *serverLink, p parcel, now time.Time) {
	switch d := l.detour; {
	case d != nil && d.lost:
	case d != nil && d.down.busy(now):
		in.keep(l, &d.down, p)
	default:
		in.pass(l, p, now)
	}
}

// sendLate keeps a parcel that has a time of its own.
func (in *injector) sendLate(l *serverLink, p parcel) {
	in.keep(l, &in.detour(l).down, p)
	in.wakeAt(p.notBefore)
}

// pass delivers a parcel, unless a fault does otherwise.
func (in *injector) pass(l *serverLink, p parcel, now time.Time) {
	if len(p.faults) > 0 {
		f := p.faults[0]
		p.faults = p.faults[1:]
		in.fire(f)
		in.actOnEvent(f, l, p, now)
		return
	}
	if p.end != nil {
		in.forget(l)
		l.sink.Fail(p.end)
		return
	}
	l.sink.Deliver(p.bytes)
}

// actOnEvent lets a fault act on a notification that is about to be delivered.
func (in *injector) actOnEvent(f *carry.Armed, l *serverLink, p parcel, now time.Time) {
	half := len(p.bytes) / 2
	switch f.Kind {
	case fault.Cut:
		in.reset(l)
	case fault.CutMidFrame:
		l.sink.Deliver(p.bytes[:half])
		in.reset(l)
	case fault.StallMidFrame:
		l.sink.Deliver(p.bytes[:half])
		d := in.detour(l)
		d.down.putBack(parcel{bytes: p.bytes[half:], notBefore: now.Add(f.For)})
		in.wakeAt(now.Add(f.For))
	case fault.Stall:
		in.stall(l, now.Add(f.For))
		l.detour.down.putBack(p)
	case fault.Delay:
		d := in.detour(l)
		in.hold(now.Add(f.For), &d.down)
		d.down.putBack(p)
	}
}

func (in *injector) resetSoon(l *serverLink, now time.Time) { in.endWith(l, errReset, now) }

var errGarbage = errors.New("garbage")

// takeGarbage notes that a client sent what is no frame, and reports whether
// that is taken care of.
func (in *injector) takeGarbage(l *serverLink, now time.Time) bool {
	switch d := l.detour; {
	case d == nil:
		return false
	case d.up.busy(now):
		d.deaf = true
		in.keep(l, &d.up, parcel{end: errGarbage})
	default:
		in.endWith(l, io.EOF, now) // behind what is on hold for the client
	}
	return true
}

// takeGone notes that a client closed its end, and reports whether the server
// need not hear of it, or not yet. The client may still read if it is half gone.
func (in *injector) takeGone(l *serverLink, half bool, now time.Time) bool {
	d := l.detour
	if d == nil {
		return false
	}
	known := in.server.links[l.id] == l
	switch {
	case known && d.lost:
		d.gone = true
	case !known && half && !d.lost: // its end is on hold for it
	case !known || d.hung:
		in.server.unlink(l)
		in.forget(l)
	case d.up.busy(now):
		in.keep(l, &d.up, parcel{end: io.EOF})
	case half:
		in.endWith(l, io.EOF, now)
	default:
		in.forget(l)
		return false
	}
	return true
}
