package engine

import (
	"bytes"
	"encoding/binary"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

type session struct {
	id        int64
	timeoutMs int64
	expiresAt int64  // ms, the end of a tick bucket
	conn      *conn  // nil when not connected
	owner     ConnID // of the last connection
	ended     bool   // refused already; its ephemerals are still there
	watched   bool   // its last connection had a watch at its end
}

// handshake answers the first frame of a connection.
func (e *Engine) handshake(c *conn, frame []byte, now int64) Request {
	r := Request{Handshake: true, Silent: true}
	req, err := wire.DecodeConnectRequest(frame)
	if err != nil || req.LastZxidSeen > c.at.store.LastZxid() {
		e.hangUp(c)
		return r
	}
	timeout := e.negotiate(req.TimeoutMs)
	c.hasReadOnly = req.HasReadOnly
	if req.SessionID == 0 {
		e.attach(c, e.newSession(c.at, timeout, now))
		created := proto.RequestHeader{Op: proto.OpCreateSession}
		c.answered(&Request{Header: created, Zxid: c.at.store.LastZxid()}, now)
	} else if s := e.reattach(c, req, timeout); s != nil {
		e.attach(c, s)
	}
	r.Silent, r.Session, r.Zxid = false, c.sessionID(), c.at.store.LastZxid()
	if c.session != nil {
		e.touch(c.session, now)
	}
	e.sendConnectResponse(c)
	if c.session == nil {
		e.hangUp(c)
	}
	return r
}

func (e *Engine) attach(c *conn, s *session) {
	e.sessionless.remove(c.id, sessionlessDeadline(c.opened))
	s.conn, s.owner, c.session = c, c.id, s
}

// sendConnectResponse sends a ConnectResponse, all zeros to a connection without a session.
func (e *Engine) sendConnectResponse(c *conn) {
	resp := proto.ConnectResponse{HasReadOnly: c.hasReadOnly}
	var password [16]byte
	if s := c.session; s != nil {
		password = passwordOf(s.id)
		resp.TimeoutMs, resp.SessionID = int32(s.timeoutMs), s.id
	}
	resp.Password = password[:]
	start := len(e.buf)
	e.buf = wire.AppendConnectResponse(e.buf, resp)
	e.send(c, start, nil)
}

func (e *Engine) negotiate(requestedMs int32) int64 {
	lo, hi := e.cfg.MinSessionTimeout.Milliseconds(), e.cfg.MaxSessionTimeout.Milliseconds()
	return min(max(int64(requestedMs), lo), hi)
}

func (e *Engine) newSession(at *replica, timeoutMs, now int64) *session {
	id := e.nextSessionID
	e.nextSessionID++
	e.apply(e.leader.store.PrepareCreateSession(id, passwordOf(id), int32(timeoutMs), now))
	e.catchUp(at)
	s := &session{id: id, timeoutMs: timeoutMs}
	e.sessions[id] = s
	return s
}

// reattach returns the session that a client asks for, nil if it is refused. As the real server
// does, it closes the session's present connection before it checks the password. A connection to
// another server stays; see [Engine.moved].
func (e *Engine) reattach(c *conn, req proto.ConnectRequest, timeoutMs int64) *session {
	s := e.sessions[req.SessionID]
	if s == nil || s.ended {
		return nil
	}
	if s.conn != nil && s.conn.at == c.at {
		e.hangUp(s.conn)
	}
	if !samePassword(req.Password, passwordOf(s.id)) {
		return nil
	}
	s.timeoutMs = timeoutMs
	return s
}

// createSessionAgain answers a createSession on a connection that has a session: with a
// transaction without effect and another ConnectResponse. The requested timeout is valid
// until the next request. If it has run out already, the session lands in a past tick,
// which the real server never handles.
func (e *Engine) createSessionAgain(c *conn, r *Request, req *proto.CreateSession, now int64) {
	s := c.session
	txn := e.leader.store.PrepareCreateSession(s.id, passwordOf(s.id), req.TimeoutMs, now)
	txn.Changes = nil
	e.apply(txn)
	e.catchUp(c.at)
	e.setExpiry(s, e.endOfTick(now+int64(req.TimeoutMs)))
	if s.expiresAt < e.endOfTick(now) {
		e.expiries.remove(s.id, s.expiresAt)
	}
	r.Zxid = txn.Zxid
	c.answered(r, now)
	e.sendConnectResponse(c)
}

// answerClose ends the session at its client's request.
func (e *Engine) answerClose(c *conn, r *Request, now int64) {
	e.forget(c.session)
	c.closes = true
	txn := e.leader.store.PrepareCloseSession(r.Session, now)
	e.apply(txn)
	e.catchUp(c.at)
	r.Zxid = txn.Zxid
	e.reply(c, r)
	e.hangUp(c)
}

// superSecret is the constant that ZooKeeper mixes into the seed of passwords.
const superSecret = 0xB3415C00

// passwordOf derives a session's password from its id, as every ZooKeeper does: the
// first bytes of java.util.Random with the id and superSecret as its seed.
//
// Source: ZooKeeperServer.generatePasswd; java.util.Random.
func passwordOf(id int64) [16]byte {
	const multiplier, mask = 0x5DEECE66D, 1<<48 - 1
	var p [16]byte
	seed := (uint64(id^superSecret) ^ multiplier) & mask
	for i := 0; i < len(p); i += 4 {
		seed = (seed*multiplier + 0xB) & mask
		binary.LittleEndian.PutUint32(p[i:], uint32(seed>>16))
	}
	return p
}

func samePassword(a []byte, b [16]byte) bool { return bytes.Equal(a, b[:]) }
