package engine

import (
	"errors"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// request handles a frame after the handshake.
func (e *Engine) request(c *conn, frame []byte, now int64) Request {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		e.hangUp(c)
		return Request{Silent: true}
	}
	r := Request{Session: c.session.id, Header: h}
	c.countRequest(h.Xid)
	// The real server answers auth and sasl before the request pipeline: they do
	// not restart the session's expiry timer.
	authentication := h.Op == proto.OpAuth || h.Op == proto.OpSasl
	if !authentication && e.reachesLeader(c.at) {
		e.touch(c.session, now)
	}
	r.Body, err = wire.DecodeRequest(h.Op, body)
	switch {
	case err != nil && authentication:
		r.Body, r.Silent = nil, true
		e.hangUp(c)
	case err != nil:
		r.Body = nil
		e.refuseFrame(c, &r, err, now)
	case authentication:
		e.authenticate(c, &r)
	default:
		e.answer(c, &r, now)
	}
	return r
}

// answer carries out a request and sends its events, then its reply.
func (e *Engine) answer(c *conn, r *Request, now int64) {
	switch req := r.Body.(type) {
	case *proto.CreateSession:
		e.createSessionAgain(c, r, req, now)
		return
	case *proto.Simple:
		switch req.Code {
		case proto.OpCloseSession:
			e.answerClose(c, r, now)
			return
		case proto.OpWhoAmI:
			r.Reply = proto.WhoAmIReply{IDs: publicIDs(c.ids.List())}
		}
		r.Zxid = c.at.store.LastZxid()
	case *proto.MultiRead:
		if r.Reply, r.Err, r.TooLarge = e.readMany(c, req); r.TooLarge {
			r.Silent = true
			e.hangUp(c)
			return
		}
		r.Zxid = c.at.store.LastZxid()
	default:
		if !r.Header.Op.IsWrite() {
			r.Reply, r.Err = e.read(c, req)
			r.Zxid = c.at.store.LastZxid()
		} else if !e.write(c, r, now) {
			return
		}
	}
	e.finish(c, r, now)
}

// write carries out a write. It reports false if it has ended the connection instead.
func (e *Engine) write(c *conn, r *Request, now int64) bool {
	if e.sessionMoved(c) {
		r.Silent = true
		e.hangUp(c)
		return false
	}
	res := e.apply(e.leader.store.Prepare(r.Body, e.caller(c), now))
	e.catchUp(c.at)
	r.Reply, r.Err, r.Zxid = res.Reply, res.Err, c.at.store.LastZxid()
	// The real server fails to serialise its reply to a check that succeeds, and sends none.
	r.Silent = r.Header.Op == proto.OpCheck && r.Err == proto.OK
	return true
}

// refuseFrame answers a request that cannot be decoded: it refuses an unknown
// operation and closes the connection; it only refuses a malformed body.
func (e *Engine) refuseFrame(c *conn, r *Request, err error, now int64) {
	if errors.Is(err, wire.ErrUnknownOp) {
		r.Err, r.Zxid = proto.Unimplemented, -1
		e.reply(c, r)
		e.hangUp(c)
		return
	}
	r.Err = proto.MarshallingError
	if drawsZxidFirst(r.Header.Op) {
		e.apply(e.leader.store.PrepareMalformed(r.Header.Op, r.Session, now))
		e.catchUp(c.at)
	}
	r.Zxid = c.at.store.LastZxid()
	e.finish(c, r, now)
}

// drawsZxidFirst reports whether a request consumes a zxid before its body is decoded.
// A reconfig is decoded first.
func drawsZxidFirst(op proto.OpCode) bool {
	return op.IsWrite() && op != proto.OpReconfig || op == proto.OpCreateSession
}

const pingXid = -2

// finish counts the request as the connection's last one and replies.
func (e *Engine) finish(c *conn, r *Request, now int64) {
	c.answered(r, now)
	if r.Header.Op == proto.OpPing {
		r.Header.Xid = pingXid
	}
	if !r.Silent {
		e.reply(c, r)
	}
}

func (e *Engine) reply(c *conn, r *Request) {
	start := len(e.buf)
	h := proto.ReplyHeader{Xid: r.Header.Xid, Zxid: r.Zxid, Err: r.Err}
	e.buf = wire.AppendReply(e.buf, h, r.Reply)
	c.countReply(h.Xid)
	e.send(c, start, nil)
}

// send outputs the frame that begins at start in e.buf.
func (e *Engine) send(c *conn, start int, ev *proto.WatcherEvent) {
	e.countSent(c)
	e.out = append(e.out, Output{Conn: c.id, Frame: e.buf[start:len(e.buf):len(e.buf)], Event: ev})
}

// hangUp closes a connection from the server's side, after the frames sent before.
func (e *Engine) hangUp(c *conn) {
	e.out = append(e.out, Output{Conn: c.id, Close: true})
	e.drop(c.id)
}

func (e *Engine) caller(c *conn) state.Caller {
	return state.Caller{Session: c.sessionID(), IDs: c.ids.List()}
}

// apply lets the leader apply a transaction.
func (e *Engine) apply(txn state.Txn) state.Result {
	txn.Time = e.leaderTime(txn.Time)
	e.propose(txn)
	a := e.applyAt(e.leader, txn)
	a.ByServer = e.byServer || txn.Session == 0
	e.applied = append(e.applied, a)
	return a.Result
}

// applyAt lets a server apply a transaction and notify its watchers.
func (e *Engine) applyAt(r *replica, txn state.Txn) Applied {
	a := Applied{Txn: txn, Result: r.store.Apply(txn)}
	start := len(e.notified)
	for i := range a.Result.Events {
		sessions, watchers := e.fire(r, &a.Result.Events[i])
		e.notified, e.watchers = append(e.notified, sessions), append(e.watchers, watchers)
	}
	a.Notified = e.notified[start:len(e.notified):len(e.notified)]
	a.Watchers = e.watchers[start:len(e.watchers):len(e.watchers)]
	return a
}
