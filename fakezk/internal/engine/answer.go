package engine

import (
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// An exchange is a frame of a connection and the answer to it.
type exchange struct {
	e   *Engine
	c   *conn // c.at is the server that it leads to
	now int64 // ms
	r   Request

	refusal proto.ErrCode // of a request that a fault keeps from being carried out
}

// request handles a frame after the handshake.
func (x *exchange) request(frame []byte) {
	c := x.c
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		x.hangUp()
		return
	}
	x.r = Request{Session: c.session.id, Header: h}
	c.countRequest(h.Xid)
	// The real server answers auth and sasl before the request pipeline: they do
	// not restart the session's expiry timer.
	authentication := h.Op == proto.OpAuth || h.Op == proto.OpSasl
	if !authentication && !x.touch() {
		x.r.Silent = true
		return
	}
	x.r.Body, err = wire.DecodeRequest(h.Op, body)
	switch {
	case err != nil && authentication:
		x.r.Body = nil
		x.hangUp()
	case err != nil:
		x.r.Body = nil
		x.refuseFrame(err)
	case x.refusal != proto.OK:
		x.refuse()
	case authentication:
		x.authenticate()
	default:
		x.answer()
	}
}

// hangUp closes the connection without a reply.
func (x *exchange) hangUp() {
	x.r.Silent = true
	x.c.hangUp()
}

// answer carries out a request and sends its events, then its reply.
func (x *exchange) answer() {
	r, store := &x.r, x.c.at.store
	switch req := r.Body.(type) {
	case *proto.CreateSession:
		x.createSessionAgain(req)
		return
	case *proto.Simple:
		switch req.Code {
		case proto.OpCloseSession:
			x.answerClose()
			return
		case proto.OpWhoAmI:
			r.Reply = proto.WhoAmIReply{IDs: publicIDs(x.c.ids.List())}
		}
	case *proto.Sync:
		x.e.ensemble.catchUp(x.c.at)
		r.Reply = proto.PathReply{Path: req.Path}
	default:
		if !r.Header.Op.IsWrite() {
			r.Reply, r.Err, r.TooLarge = x.c.at.boundedRead(x.c, req)
		} else if !x.write() {
			return
		}
	}
	if r.TooLarge {
		x.hangUp()
		return
	}
	r.Zxid = store.LastZxid()
	x.finish()
}

// write carries out a write. It reports false if it has ended the connection instead.
func (x *exchange) write() bool {
	if x.sessionMoved() {
		marks.Hit("moved session")
		x.hangUp()
		return false
	}
	res := x.apply(x.leader().Prepare(x.r.Body, x.c.caller(), x.now))
	x.r.Reply, x.r.Err = res.Reply, res.Err
	// The real server fails to serialise its reply to a check that succeeds, and sends none.
	if x.r.Header.Op == proto.OpCheck && x.r.Err == proto.OK {
		marks.Hit("silent check")
		x.r.Silent = true
	}
	return true
}

// sessionMoved reports whether the session has gone to a connection with another server. The leader
// then refuses what comes through the old one, which closes the connection.
//
// Source: SessionTrackerImpl.checkSession; FinalRequestProcessor, SessionMovedException.
func (x *exchange) sessionMoved() bool { return x.c.session.owner != x.c.id }

// apply lets the leader apply a transaction of the client, and then the client's own server.
func (x *exchange) apply(txn state.Txn) state.Result {
	res := x.e.ensemble.apply(txn).Result
	x.e.ensemble.catchUp(x.c.at)
	return res
}

const pingXid = -2

// finish counts the request as the connection's last one and replies.
func (x *exchange) finish() {
	x.c.answered(&x.r, x.now)
	if x.r.Header.Op == proto.OpPing {
		x.r.Header.Xid = pingXid
	}
	if !x.r.Silent {
		x.c.reply(&x.r)
	}
}
