package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

type session struct {
	id        int64
	timeoutMs int64
	expiresAt int64  // ms, the end of a tick bucket
	conn      ConnID // 0 when not connected
	ended     bool   // refused already, its ephemerals not yet reaped
}

// handshake answers the first frame of a connection.
func (e *Engine) handshake(c *conn, frame []byte, now int64) Request {
	r := Request{Handshake: true, Silent: true}
	req, err := wire.DecodeConnectRequest(frame)
	if err != nil || req.LastZxidSeen > e.store.LastZxid() {
		e.hangUp(c)
		return r
	}
	timeout := e.negotiate(req.TimeoutMs)
	var s *session
	if req.SessionID == 0 {
		s = e.newSession(timeout, now)
	} else {
		s = e.reattach(req, timeout)
	}
	r.Silent = false
	resp := proto.ConnectResponse{HasReadOnly: req.HasReadOnly, Password: make([]byte, 16)}
	if s != nil {
		e.touch(s, now)
		s.conn, c.session, r.Session = c.id, s.id, s.id
		delete(e.strangers, c.id)
		password := passwordOf(s.id)
		resp.TimeoutMs, resp.SessionID, resp.Password = int32(timeout), s.id, password[:]
	}
	start := len(e.buf)
	e.buf = wire.AppendConnectResponse(e.buf, resp)
	e.out = append(e.out, Output{Conn: c.id, Frame: e.buf[start:len(e.buf):len(e.buf)]})
	r.Zxid = e.store.LastZxid()
	if s == nil {
		e.hangUp(c)
	}
	return r
}

func (e *Engine) negotiate(requestedMs int32) int64 {
	lo, hi := e.cfg.MinSessionTimeout.Milliseconds(), e.cfg.MaxSessionTimeout.Milliseconds()
	return min(max(int64(requestedMs), lo), hi)
}

func (e *Engine) newSession(timeoutMs, now int64) *session {
	id := e.nextSessionID
	e.nextSessionID++
	e.apply(e.store.PrepareCreateSession(id, passwordOf(id), int32(timeoutMs), now))
	s := &session{id: id, timeoutMs: timeoutMs}
	e.sessions[id] = s
	return s
}

// reattach finds the session that a client wants back. As the real server
// does, it closes the session's present connection before it looks at the
// password.
func (e *Engine) reattach(req proto.ConnectRequest, timeoutMs int64) *session {
	s := e.sessions[req.SessionID]
	if s == nil || s.ended {
		return nil
	}
	if old := e.conns[s.conn]; old != nil {
		e.hangUp(old)
	}
	if !samePassword(req.Password, passwordOf(s.id)) {
		return nil
	}
	s.timeoutMs = timeoutMs
	return s
}

// touch restarts a session's expiry timer. Expiry comes at the end of the tick
// in which the timeout runs out, never early and at most one tick late.
func (e *Engine) touch(s *session, now int64) {
	if s == nil || s.ended {
		return
	}
	tick := e.cfg.TickTime.Milliseconds()
	e.setExpiry(s, (now+s.timeoutMs)/tick*tick+tick)
}

func (e *Engine) setExpiry(s *session, at int64) {
	if at == s.expiresAt {
		return
	}
	e.unschedule(s)
	s.expiresAt = at
	if e.buckets[at] == nil {
		e.buckets[at] = map[int64]bool{}
	}
	e.buckets[at][s.id] = true
}

func (e *Engine) unschedule(s *session) {
	if bucket := e.buckets[s.expiresAt]; bucket != nil {
		delete(bucket, s.id)
		if len(bucket) == 0 {
			delete(e.buckets, s.expiresAt)
		}
	}
}

// Connections that never shake hands are closed after 10 to 20 seconds, in
// buckets of 10 s as the real server's.
const sessionlessMs = 10_000

func sessionlessDeadline(openedMs int64) int64 {
	return (openedMs+sessionlessMs)/sessionlessMs*sessionlessMs + sessionlessMs
}

// NextDeadline is when Tick has something to do; the zero time means never.
func (e *Engine) NextDeadline() time.Time {
	next := int64(-1)
	consider := func(at int64) {
		if next < 0 || at < next {
			next = at
		}
	}
	for at := range e.buckets {
		consider(at)
	}
	for _, c := range e.strangers {
		consider(sessionlessDeadline(c.opened))
	}
	if next < 0 {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// Tick ends the sessions whose time is up, those of one bucket in order of id,
// and closes connections that never shook hands.
func (e *Engine) Tick(now time.Time) Reaction {
	e.begin()
	ms := now.UnixMilli()
	for _, at := range slices.Sorted(maps.Keys(e.buckets)) {
		if at > ms {
			break
		}
		for _, id := range slices.Sorted(maps.Keys(e.buckets[at])) {
			e.endSession(e.sessions[id], ms)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.strangers)) {
		if c := e.strangers[id]; sessionlessDeadline(c.opened) <= ms {
			e.hangUp(c)
		}
	}
	return Reaction{Out: e.out, Applied: e.applied}
}

// endSession applies closeSession on behalf of the server and closes the
// session's connection without a word: it hears nothing of its own ephemerals.
func (e *Engine) endSession(s *session, now int64) {
	e.forget(s)
	if c := e.conns[s.conn]; c != nil {
		e.hangUp(c)
	}
	e.byServer = true
	e.apply(e.store.PrepareCloseSession(s.id, now))
	e.byServer = false
}

func (e *Engine) forget(s *session) {
	e.unschedule(s)
	delete(e.sessions, s.id)
}

// Expire ends a session now, as if its time were up. It reports whether there
// was such a session.
func (e *Engine) Expire(id int64, now time.Time) (Reaction, bool) {
	e.begin()
	s := e.sessions[id]
	if s == nil {
		return Reaction{}, false
	}
	e.endSession(s, now.UnixMilli())
	return Reaction{Out: e.out, Applied: e.applied}, true
}

// ExpireLate refuses a session from now on but leaves its ephemerals until a
// later time, as a follower that lags behind shows them.
func (e *Engine) ExpireLate(id int64, reapAt time.Time) (Reaction, bool) {
	e.begin()
	s := e.sessions[id]
	if s == nil || s.ended {
		return Reaction{}, false
	}
	s.ended = true
	e.setExpiry(s, reapAt.UnixMilli())
	if c := e.conns[s.conn]; c != nil {
		e.hangUp(c)
	}
	return Reaction{Out: e.out}, true
}

// ReapEnded removes the ephemerals that ExpireLate left.
func (e *Engine) ReapEnded(now time.Time) Reaction {
	e.begin()
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		if e.sessions[id].ended {
			e.endSession(e.sessions[id], now.UnixMilli())
		}
	}
	return Reaction{Out: e.out, Applied: e.applied}
}

// Restart closes every connection and gives every session its full timeout
// again, as a server does that comes back with its data.
func (e *Engine) Restart(now time.Time) Reaction {
	e.begin()
	for _, id := range slices.Sorted(maps.Keys(e.conns)) {
		e.hangUp(e.conns[id])
	}
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		s := e.sessions[id]
		e.touch(s, now.UnixMilli())
		if s.ended {
			e.setExpiry(s, max(s.expiresAt, now.UnixMilli()+1))
		}
	}
	return Reaction{Out: e.out}
}

// answerClose ends the session at its own wish.
func (e *Engine) answerClose(c *conn, r *Request, now int64) {
	e.forget(e.sessions[c.session])
	txn := e.store.PrepareCloseSession(c.session, now)
	e.apply(txn)
	r.Zxid = txn.Zxid
	e.reply(c, r)
	e.hangUp(c)
}
