package engine

import (
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// handshake answers the first frame of a connection.
func (x *exchange) handshake(frame []byte) {
	c, store := x.c, x.c.at.store
	x.r = Request{Handshake: true, Silent: true}
	req, err := wire.DecodeConnectRequest(frame)
	if err != nil {
		c.hangUp()
		return
	}
	if req.LastZxidSeen > store.LastZxid() {
		marks.Hit("client ahead of its server")
		c.hangUp()
		return
	}
	c.hasReadOnly = req.HasReadOnly
	timeout := x.e.sessions.negotiate(req.TimeoutMs)
	if req.SessionID == 0 {
		x.newSession(timeout)
	} else {
		x.reattach(req, timeout)
	}
	x.r.Silent, x.r.Session, x.r.Zxid = false, c.sessionID(), store.LastZxid()
	switch {
	case c.session == nil:
	case c.at.isApart():
		x.touchApart()
	default:
		x.e.sessions.touch(c.session, x.now)
	}
	c.sendConnectResponse()
	if c.session == nil {
		c.hangUp()
	}
}

func (x *exchange) newSession(timeoutMs int64) {
	s := x.e.sessions.add(timeoutMs)
	x.apply(x.leader().PrepareCreateSession(s.id, passwordOf(s.id), int32(timeoutMs), x.now))
	x.e.conns.attach(x.c, s)
	created := proto.RequestHeader{Op: proto.OpCreateSession}
	x.c.answered(&Request{Header: created, Zxid: x.c.at.store.LastZxid()}, x.now)
}

// reattach gives the connection the session that its client asks for, unless it is refused. As the
// real server does, it closes the session's present connection before it checks the password. A
// connection to another server stays; see [exchange.sessionMoved].
func (x *exchange) reattach(req proto.ConnectRequest, timeoutMs int64) {
	s := x.session(req.SessionID)
	if s == nil || s.ended {
		return
	}
	if s.conn != nil && s.conn.at == x.c.at {
		s.conn.hangUp()
	}
	if !samePassword(req.Password, passwordOf(s.id)) {
		marks.Hit("wrong password")
		return
	}
	s.timeoutMs = timeoutMs
	if x.c.at != x.e.leader {
		x.e.catchUp(x.c.at) // the leader's answer comes behind all that it has sent before
	}
	x.e.conns.attach(x.c, s)
}

// createSessionAgain answers a createSession on a connection that has a session: with a
// transaction without effect and another ConnectResponse. The requested timeout is valid
// until the next request.
func (x *exchange) createSessionAgain(req *proto.CreateSession) {
	s := x.c.session
	txn := x.leader().PrepareCreateSession(s.id, passwordOf(s.id), req.TimeoutMs, x.now)
	txn.Changes = nil
	x.apply(txn)
	x.e.sessions.expireIn(s, int64(req.TimeoutMs), x.now)
	x.r.Zxid = txn.Zxid
	x.c.answered(&x.r, x.now)
	x.c.sendConnectResponse()
}

// answerClose ends the session at its client's request.
func (x *exchange) answerClose() {
	x.e.sessions.forget(x.c.session)
	x.c.closes = true
	txn := x.leader().PrepareCloseSession(x.r.Session, x.now)
	x.apply(txn)
	x.r.Zxid = txn.Zxid
	x.c.reply(&x.r)
	x.c.hangUp()
}
