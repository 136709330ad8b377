package fakezk

import (
	"io"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// What a client finds: its connection reset, its dial refused.
const (
	errReset   = syscall.ECONNRESET
	errRefused = syscall.ECONNREFUSED
)

// serverOutage is a time in which dials fail or hang.
type serverOutage struct {
	fault   *carry.Armed
	session int64 // 0 means everybody's
	until   time.Time
}

func (o serverOutage) hits(session int64, now time.Time) bool {
	return now.Before(o.until) && (o.session == 0 || o.session == session)
}

// strike cuts a session off, or everybody: by reset and refused dials, or by
// silence. It reports whether there was a connection; if not, the fault has
// acted once a dial is hit.
func (in *injector) strike(f *carry.Armed, session int64, now time.Time) bool {
	in.outages = slices.DeleteFunc(in.outages, func(o serverOutage) bool { return !now.Before(o.until) })
	in.outages = append(in.outages, serverOutage{f, session, now.Add(f.For)})
	return in.eachLink(session, func(l *serverLink) {
		if f.Kind == fault.Refuse {
			in.resetSoon(l, now)
			return
		}
		in.lose(l)
	})
}

// lose puts a connection into a black hole, with all that is on hold. That the
// client has closed its end may be among it.
func (in *injector) lose(l *serverLink) {
	d := in.detour(l)
	gone := slices.ContainsFunc(d.up.parcels, func(p parcel) bool { return p.end == io.EOF })
	*d = detour{lost: true, gone: gone}
}

// eachLink visits the connections of a session, or all of them, in order, and
// reports whether there were any. Those in a black hole are out of reach.
func (in *injector) eachLink(session int64, visit func(*serverLink)) bool {
	hit := false
	s := in.server
	for _, id := range slices.Sorted(maps.Keys(s.links)) {
		l := s.links[id]
		if d := l.detour; d != nil && (d.lost || d.hung) || session != 0 && s.engine.SessionOf(id) != session {
			continue
		}
		visit(l)
		hit = true
	}
	return hit
}

// refuseDial is the error of a dial, nil if it succeeds.
func (in *injector) refuseDial(now time.Time) error {
	if now.Before(in.downTill) {
		return errRefused
	}
	for _, o := range in.outages {
		if o.session == 0 && o.fault.Kind == fault.Refuse && o.hits(0, now) {
			in.fire(o.fault)
			return errRefused
		}
	}
	return nil
}

// actOnHandshake lets an outage act on the first frame of a connection, which
// tells whose dial it is, and reports whether the frame is taken.
func (in *injector) actOnHandshake(l *serverLink, p parcel, now time.Time) bool {
	if now.Before(in.downTill) {
		in.resetSoon(l, now)
		return true
	}
	if len(in.outages) == 0 {
		return false
	}
	var session int64 // stays 0 if the frame means nothing
	if req, err := wire.DecodeConnectRequest(p.bytes); err == nil {
		session = req.SessionID
	}
	for _, o := range in.outages {
		if !o.hits(session, now) {
			continue
		}
		in.fire(o.fault)
		if o.fault.Kind == fault.Refuse {
			in.resetSoon(l, now)
		} else {
			in.hang(l, p, o.until)
		}
		return true
	}
	return false
}

// hang makes a dial hang. The server forgets the connection until then, so that
// it does not wait for its handshake.
func (in *injector) hang(l *serverLink, p parcel, until time.Time) {
	in.server.engine.Drop(l.id)
	d := in.detour(l)
	d.hung = true
	in.hold(until, &d.up)
	d.up.putBack(p)
}

// fireAt lets a fault act that is bound to a time.
func (in *injector) fireAt(f *carry.Armed, now time.Time) {
	var session int64
	if f.Client != "" {
		session = in.server.roster.find(f.Client)
	}
	switch {
	case f.Kind == fault.Restart:
		in.fire(f)
		in.restart(f.For, now)
	case f.Client != "" && session == 0: // there is no such session now
	default:
		if in.strikeAt(f, session, now) {
			in.fire(f) // unless a dial that it hit came first
		}
	}
}

// strikeAt lets a fault bound to a time act on a session, or on everybody, and
// reports whether there was anything to act on.
func (in *injector) strikeAt(f *carry.Armed, session int64, now time.Time) bool {
	switch f.Kind {
	case fault.Blackhole, fault.Refuse:
		return in.strike(f, session, now)
	case fault.Cut:
		return in.eachLink(session, func(l *serverLink) { in.resetSoon(l, now) })
	case fault.Stall:
		return in.eachLink(session, func(l *serverLink) { in.stall(l, now.Add(f.For)) })
	}
	ended := false
	for _, v := range in.server.engine.Sessions() { // Expire, LateReap
		if session == 0 || v.ID == session {
			ended = in.expire(f, v.ID, now) || ended
		}
	}
	return ended
}

// expire ends a session, at once or with its ephemerals left for a while, and
// reports whether it was alive. A server that is down ends none.
func (in *injector) expire(f *carry.Armed, session int64, now time.Time) bool {
	s := in.server
	if s.stopped || now.Before(in.downTill) {
		return false
	}
	var r engine.Reaction
	var ok bool
	if f.Kind == fault.LateReap {
		r, ok = s.engine.ExpireLate(session, now.Add(f.For))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	s.deliver(r)
	return ok
}

// restart takes the server down for a while. It forgets connections and
// watches, nothing else; while it is down no session ends.
func (in *injector) restart(down time.Duration, now time.Time) {
	s := in.server
	if till := now.Add(down); in.downTill.Before(till) {
		in.downTill = till
	}
	for _, out := range s.engine.Restart(in.downTill).Out {
		if l := s.links[out.Conn]; l != nil {
			in.resetSoon(l, now)
		}
	}
}
