package fakezk

import (
	"io"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
)

// A detour is what faults put a connection through.
type detour struct {
	up, down lane // from the client, to the client
	lost     bool // a black hole: bytes vanish, both ways
	gone     bool // lost, and the client has closed its end
	hung     bool // a dial that hangs: the server has not heard of it
	deaf     bool // garbage or a word is on hold, so what follows means nothing
}

// lane is one direction of a connection. What does not flow waits in order.
type lane struct {
	until   time.Time // nothing moves before
	parcels []parcel
	held    int // bytes, and what it costs to keep them
}

// parcel is a frame on hold, a four-letter word, or the end of the connection.
type parcel struct {
	bytes     []byte
	word      bool
	end       error          // the connection ends with this error
	judged    bool           // counted, and faults chosen
	faults    []*carry.Armed // that still have to act on it
	notBefore time.Time      // stays at least so long
}

// maxHeld bounds what a connection holds from its client: 64 MiB. What it holds
// for its client is bounded by Options.MaxQueued.
const maxHeld = 64 << 20

// parcelCost counts for what keeping a parcel takes beside its bytes.
const parcelCost = 128

// busy says that what comes now has to wait.
func (a *lane) busy(now time.Time) bool { return len(a.parcels) > 0 || now.Before(a.until) }

// movesAt is when the first parcel may go, or when the hold ends if there is
// none.
func (a *lane) movesAt() time.Time {
	if len(a.parcels) > 0 && a.parcels[0].notBefore.After(a.until) {
		return a.parcels[0].notBefore
	}
	return a.until
}

// take removes the first parcel, if it may go.
func (a *lane) take(now time.Time) (parcel, bool) {
	if len(a.parcels) == 0 || now.Before(a.movesAt()) {
		return parcel{}, false
	}
	p := a.parcels[0]
	a.parcels[0] = parcel{}
	a.parcels = a.parcels[1:]
	a.held -= len(p.bytes) + parcelCost
	return p, true
}

// putBack makes p the first parcel again.
func (a *lane) putBack(p parcel) {
	p.bytes = slices.Clone(p.bytes)
	a.parcels = slices.Insert(a.parcels, 0, p)
	a.held += len(p.bytes) + parcelCost
}

// relent lets everything go from now on, unharmed.
func (d *detour) relent(now time.Time) {
	for _, a := range []*lane{&d.up, &d.down} {
		a.until = now
		for i := range a.parcels {
			a.parcels[i].notBefore, a.parcels[i].faults, a.parcels[i].judged = time.Time{}, nil, true
		}
	}
}

// next is when there is something to do for the detour.
func (d *detour) next(now time.Time) (at time.Time, ok bool) {
	for _, a := range []*lane{&d.up, &d.down} {
		if a.busy(now) && (!ok || a.movesAt().Before(at)) {
			at, ok = a.movesAt(), true
		}
	}
	return at, ok
}

// detour is the detour of a link, a new one if it has none.
func (in *injector) detour(l *serverLink) *detour {
	if l.detour == nil {
		l.detour = &detour{}
		in.detours[l.id] = l
	}
	return l.detour
}

func (in *injector) forget(l *serverLink) {
	delete(in.detours, l.id)
	l.detour = nil
}

// hold keeps lanes of a detour from moving until a time.
func (in *injector) hold(until time.Time, lanes ...*lane) {
	for _, a := range lanes {
		if until.After(a.until) {
			a.until = until
		}
	}
	in.wakeAt(until)
}

// stall holds a link both ways.
func (in *injector) stall(l *serverLink, until time.Time) {
	d := in.detour(l)
	in.hold(until, &d.up, &d.down)
}

// keep makes a parcel wait behind those that do already. A connection with too
// much on hold is reset.
func (in *injector) keep(l *serverLink, a *lane, p parcel) {
	limit := maxHeld
	if a == &l.detour.down {
		limit = in.server.opts.MaxQueued
	}
	a.held += len(p.bytes) + parcelCost
	if a.held > limit {
		in.reset(l)
		return
	}
	p.bytes = slices.Clone(p.bytes)
	a.parcels = append(a.parcels, p)
}

// release moves what may move on a detour, and ends the detour when nothing is
// on hold any more.
func (in *injector) release(l *serverLink, now time.Time) {
	d := l.detour
	if d == nil {
		return // gone while others were released
	}
	if d.hung && !now.Before(d.up.until) {
		d.hung = false
		in.server.engine.Open(l.id, l.peer.ip, now)
	}
	for l.detour == d && in.moveUp(l, now) {
	}
	for l.detour == d && in.moveDown(l, now) {
	}
	if l.detour == d && !d.lost && !d.hung && !d.up.busy(now) && !d.down.busy(now) {
		in.forget(l)
	}
}

// moveUp hands the server one parcel, if one may go.
func (in *injector) moveUp(l *serverLink, now time.Time) bool {
	p, ok := l.detour.up.take(now)
	switch {
	case !ok:
		return false
	case p.end != nil: // the client's, or that of garbage
		in.endWith(l, io.EOF, now)
	case p.word:
		if !in.actOnHandshake(l, p, now) {
			in.server.answerWord(l, p.bytes)
		}
	case !in.actOnFrame(l, p, now):
		in.server.process(l, p.bytes, now)
	}
	return true
}

// moveDown hands the client one parcel, if one may go.
func (in *injector) moveDown(l *serverLink, now time.Time) bool {
	p, ok := l.detour.down.take(now)
	if ok {
		in.pass(l, p, now)
	}
	return ok
}

// drop makes the server forget a connection.
func (in *injector) drop(l *serverLink) {
	in.server.engine.Drop(l.id)
	in.server.unlink(l)
}

// reset ends a connection at once: the server forgets it, and the client gets
// what was delivered and then an error.
func (in *injector) reset(l *serverLink) {
	in.drop(l)
	in.forget(l)
	l.sink.Fail(errReset)
}

// endWith ends a connection for the server now, and for the client after what
// is on hold for it.
func (in *injector) endWith(l *serverLink, err error, now time.Time) {
	in.drop(l)
	d := l.detour
	switch {
	case d == nil:
		l.sink.Fail(err)
	case d.lost: // the client does not hear of it
		if d.gone {
			in.forget(l)
			l.sink.Fail(err) // nor could it
		}
	case d.down.busy(now):
		d.up = lane{}
		in.keep(l, &d.down, parcel{end: err})
	default:
		in.forget(l)
		l.sink.Fail(err)
	}
}
