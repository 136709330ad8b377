// Package engine is a ZooKeeper 3.8 standalone server as a value that is
// called and never calls: frames and the time go in, frames come out.
//
//	e.Open(id, peer, now)               a transport connection exists
//	e.Handle(id, frame, now) Reaction   one frame of it arrived
//	e.Drop(id)                          it is gone
//	e.Tick(now) Reaction                time passed; do it at e.NextDeadline()
//
// An Engine starts no goroutine, reads no clock and draws no random number, so
// the same calls give the same answers. It is not safe for concurrent use: the
// front that drives it (the real-time server or the World) owns it.
//
// It knows sessions, connections and watches; the rules of the znode tree are
// in package state, the bytes in package wire.
package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// ConnID names a transport connection. The front chooses it and never reuses one.
type ConnID int64

// Config are the settings of a server. All are needed.
type Config struct {
	// TickTime is the unit of session expiry.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound what clients may ask for;
	// a real server's defaults are 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// OrderChildren puts the names that getChildren returns, which come in
	// order of creation, into the server's order. zxid is the last applied.
	OrderChildren func(parent string, zxid int64, names []string)
}

// Engine is one server. Use New.
type Engine struct {
	cfg           Config
	store         *state.Store
	conns         map[ConnID]*conn
	strangers     map[ConnID]*conn // those of conns that have not shaken hands
	sessions      map[int64]*session
	buckets       map[int64]map[int64]bool // expiry in ms -> ids of sessions
	watches       watchTable
	nextSessionID int64

	out      []Output  // of the call under way
	byServer bool      // the call under way ends a session without being asked to
	applied  []Applied // of the call under way
	buf      []byte    // frames of the call under way
}

type conn struct {
	id      ConnID
	session int64      // 0 before the handshake
	ids     []proto.ID // what the connection has proved; the peer's ip first
	opened  int64      // ms
}

// New returns a server with an empty tree whose session ids derive from now,
// as a real server's do.
func New(cfg Config, now time.Time) *Engine {
	return &Engine{
		cfg:           cfg,
		store:         state.New(),
		conns:         map[ConnID]*conn{},
		strangers:     map[ConnID]*conn{},
		sessions:      map[int64]*session{},
		buckets:       map[int64]map[int64]bool{},
		watches:       newWatchTable(),
		nextSessionID: int64(uint64(now.UnixMilli())<<24>>8) + 1,
	}
}

// Output is one thing to do to a connection, in order. A frame's bytes are
// valid until the next call of the engine.
type Output struct {
	Conn ConnID
	// Frame is what to send, with its length prefix. Nil with Close alone.
	Frame []byte
	// Close says to close the connection after the frame.
	Close bool
	// Event is set when the frame is a watch notification.
	Event *proto.WatcherEvent
}

// Applied is one transaction that the call applied.
type Applied struct {
	Txn    state.Txn
	Result state.Result
	// ByServer says that the server did it of its own accord: an expiry, or what
	// Submit was asked to do.
	ByServer bool
	// Notified are the sessions told of each of Result.Events.
	Notified [][]int64
}

// Reaction is everything that one call caused. Its slices are valid until the
// next call of the engine.
type Reaction struct {
	Out     []Output
	Applied []Applied
	// Request describes the request that was answered.
	Request Request
}

// Request says how a frame was understood and answered.
type Request struct {
	// Handshake says that the frame was a connect request; Session is then the
	// session it got, 0 if refused.
	Handshake bool
	Session   int64
	Header    proto.RequestHeader
	// Body is nil if the frame could not be decoded.
	Body  proto.Request
	Zxid  int64
	Err   proto.ErrCode
	Reply proto.Reply
	// Silent says that no reply was sent.
	Silent bool
}

// Open announces a connection from an address, "127.0.0.1" say.
func (e *Engine) Open(id ConnID, ip string, now time.Time) {
	c := &conn{id: id, ids: []proto.ID{{Scheme: "ip", ID: ip}}, opened: now.UnixMilli()}
	e.conns[id], e.strangers[id] = c, c
}

// Drop announces that a connection is gone. Its session lives on, its watches do not.
func (e *Engine) Drop(id ConnID) {
	c := e.conns[id]
	if c == nil {
		return
	}
	delete(e.conns, id)
	delete(e.strangers, id)
	e.watches.drop(id)
	if s := e.sessions[c.session]; s != nil && s.conn == id {
		s.conn = 0
	}
}

// Handle takes one frame, without its length prefix, and does not keep it.
// A frame of a connection that the engine closed is ignored.
func (e *Engine) Handle(id ConnID, frame []byte, now time.Time) Reaction {
	e.begin()
	c := e.conns[id]
	if c == nil {
		return Reaction{}
	}
	var r Request
	if c.session == 0 {
		r = e.handshake(c, frame, now.UnixMilli())
	} else {
		r = e.request(c, frame, now.UnixMilli())
	}
	return Reaction{Out: e.out, Applied: e.applied, Request: r}
}

func (e *Engine) begin() {
	e.out, e.applied, e.buf = e.out[:0], e.applied[:0], e.buf[:0]
}

// request handles a frame after the handshake.
func (e *Engine) request(c *conn, frame []byte, now int64) Request {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		e.hangUp(c)
		return Request{Silent: true}
	}
	e.touch(e.sessions[c.session], now)
	r := Request{Session: c.session, Header: h}
	r.Body, err = wire.DecodeRequest(h.Op, body)
	if err != nil {
		e.refuseFrame(c, &r, err, now)
		return r
	}
	e.answer(c, &r, now)
	return r
}

// answer applies a decoded request and sends what it causes: events first,
// then the reply.
func (e *Engine) answer(c *conn, r *Request, now int64) {
	switch req := r.Body.(type) {
	case *proto.Auth:
		e.answerAuth(c, r, req)
		return
	case *proto.Simple:
		if req.Code == proto.OpCloseSession {
			e.answerClose(c, r, now)
			return
		}
		r.Zxid, r.Header.Xid = e.store.LastZxid(), pingXid
	case *proto.SetWatches:
		e.setWatches(c, req)
		r.Zxid = e.store.LastZxid()
	case *proto.Sync:
		r.Reply, r.Zxid = proto.PathReply{Path: req.Path}, e.store.LastZxid()
	case *proto.Exists, *proto.GetData, *proto.GetChildren, *proto.GetACL:
		r.Reply, r.Err = e.read(c, req)
		r.Zxid = e.store.LastZxid()
	default:
		txn := e.store.Prepare(req, e.caller(c), now)
		res := e.apply(txn)
		r.Reply, r.Err, r.Zxid = res.Reply, res.Err, txn.Zxid
		if req.Op() == proto.OpCheck && r.Err == proto.OK {
			r.Silent = true // the real server never answers a successful check
			return
		}
	}
	e.reply(c, r)
}

const pingXid = -2

func (e *Engine) reply(c *conn, r *Request) {
	start := len(e.buf)
	h := proto.ReplyHeader{Xid: r.Header.Xid, Zxid: r.Zxid, Err: r.Err}
	e.buf = wire.AppendReply(e.buf, h, r.Reply)
	e.out = append(e.out, Output{Conn: c.id, Frame: e.buf[start:len(e.buf):len(e.buf)]})
}

// hangUp closes a connection from the server's side, after what was sent.
func (e *Engine) hangUp(c *conn) {
	e.out = append(e.out, Output{Conn: c.id, Close: true})
	e.Drop(c.id)
}

func (e *Engine) caller(c *conn) state.Caller {
	return state.Caller{Session: c.session, IDs: c.ids}
}

// refuseFrame answers a request that could not be decoded: an unknown
// operation is refused and the connection closed, a malformed body is only
// refused.
func (e *Engine) refuseFrame(c *conn, r *Request, err error, now int64) {
	r.Body = nil
	switch {
	case r.Header.Op == proto.OpAuth: // a truncated auth packet closes without reply
		r.Silent = true
		e.hangUp(c)
	case errors.Is(err, wire.ErrUnknownOp):
		r.Err, r.Zxid = proto.Unimplemented, -1
		e.reply(c, r)
		e.hangUp(c)
	default:
		r.Err, r.Zxid = proto.MarshallingError, e.store.LastZxid()
		// A reconfig is decoded before its zxid is drawn, any other write after.
		if state.IsWrite(r.Header.Op) && r.Header.Op != proto.OpReconfig {
			txn := e.store.PrepareMalformed(r.Header.Op, c.session, now)
			e.apply(txn)
			r.Zxid = txn.Zxid
		}
		e.reply(c, r)
	}
}

// apply makes a transaction happen and notifies those who watch.
func (e *Engine) apply(txn state.Txn) state.Result {
	res := e.store.Apply(txn)
	a := Applied{Txn: txn, Result: res, ByServer: e.byServer || txn.Session == 0}
	for _, ev := range res.Events {
		a.Notified = append(a.Notified, e.fire(ev))
	}
	e.applied = append(e.applied, a)
	return res
}

// fire sends one event to its watchers, in order of connection, and returns
// the sessions notified. A watcher that may not read the node loses its
// one-shot watch and hears nothing (CVE-2024-23944).
func (e *Engine) fire(ev state.Event) []int64 {
	var notified []int64
	for _, id := range e.watches.trigger(ev.Type, ev.Path) {
		c := e.conns[id]
		if c == nil || !state.CanRead(ev.ACL, e.caller(c)) {
			continue
		}
		e.notify(c, ev.Type, ev.Path)
		notified = append(notified, c.session)
	}
	return notified
}

const syncConnected = 3

func (e *Engine) notify(c *conn, t proto.EventType, path string) {
	start := len(e.buf)
	ev := proto.WatcherEvent{Type: t, State: syncConnected, Path: path}
	e.buf = wire.AppendEvent(e.buf, ev)
	e.out = append(e.out, Output{Conn: c.id, Frame: e.buf[start:len(e.buf):len(e.buf)], Event: &ev})
}

// read answers a read and leaves its watch.
func (e *Engine) read(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	by := e.caller(c)
	switch req := req.(type) {
	case *proto.Exists:
		stat, code := e.store.Exists(req.Path)
		if req.Watch && (code == proto.OK || code == proto.NoNode) {
			e.watches.addData(c.id, req.Path)
		}
		return okReply(code, proto.StatReply{Stat: stat}), code
	case *proto.GetData:
		data, stat, code := e.store.GetData(req.Path, by)
		if req.Watch && code == proto.OK {
			e.watches.addData(c.id, req.Path)
		}
		return okReply(code, proto.DataReply{Data: data, Stat: stat}), code
	case *proto.GetACL:
		acl, stat, code := e.store.ACL(req.Path, by)
		return okReply(code, proto.ACLReply{ACL: acl, Stat: stat}), code
	case *proto.GetChildren:
		return e.readChildren(c, req, by)
	}
	panic("engine: not a read: " + req.Op().String())
}

func (e *Engine) readChildren(c *conn, req *proto.GetChildren, by state.Caller) (proto.Reply, proto.ErrCode) {
	names, stat, code := e.store.Children(req.Path, by)
	if code != proto.OK {
		return nil, code
	}
	if e.cfg.OrderChildren != nil {
		e.cfg.OrderChildren(req.Path, e.store.LastZxid(), names)
	}
	if req.Watch {
		e.watches.addChild(c.id, req.Path)
	}
	if req.Code == proto.OpGetChildren {
		return proto.ChildrenReply{Names: names}, proto.OK
	}
	return proto.ChildrenStatReply{Names: names, Stat: stat}, proto.OK
}

func okReply(code proto.ErrCode, r proto.Reply) proto.Reply {
	if code != proto.OK {
		return nil
	}
	return r
}

// passwordOf derives a session's password from its id. It is no secret, as
// nothing in a test is; it only has to be the same at every run.
func passwordOf(id int64) [16]byte {
	var p [16]byte
	x := uint64(id)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	binary.BigEndian.PutUint64(p[:8], x)
	binary.BigEndian.PutUint64(p[8:], (x^x>>29)*0xbf58476d1ce4e5b9)
	return p
}

func samePassword(a []byte, b [16]byte) bool { return bytes.Equal(a, b[:]) }
