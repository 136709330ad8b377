// Package engine is a ZooKeeper 3.8 standalone server as a value that is
// called and never calls: frames and the time go in, frames come out.
//
//	e.Open(id, peer, now)               a transport connection exists
//	e.Handle(id, frame, now) Reaction   one frame of it arrived
//	e.Drop(id)                          it is gone
//	e.Tick(now) Reaction                time passed; do it at e.NextDeadline()
//
// An Engine starts no goroutine, reads no clock and draws no random number, so
// the same calls give the same answers. What it does call, two functions of its
// [Config], sees or orders what it has decided. It is not safe for concurrent use: the
// front that drives it (the real-time server or the World) owns it.
//
// It knows sessions, connections, watches, identities and when the server acts
// of its own accord; the rules of the znode tree are in package state, the bytes
// in package wire.
//
// Where a real server's order depends on the addresses of its objects, the
// engine's is fixed: connections are notified of one event in order of their
// ids, sessions of one tick end in order of theirs.
package engine

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// ConnID names a transport connection. The front chooses it and never reuses one.
type ConnID int64

// Config are the settings of a server. The first three are needed.
type Config struct {
	// TickTime is the unit of session expiry, at least a millisecond.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound what clients may ask for;
	// a real server's defaults are 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// OrderChildren puts the names that getChildren returns, which come in
	// the store's order, into the server's order. zxid is the last applied, changes is how often
	// children of parent were created or deleted.
	OrderChildren func(parent string, zxid int64, changes int32, names []string)
	// SuperDigest is the digest identity that passes every ACL check,
	// "user:base64(sha1(user:password))"; empty means that there is none. It is
	// the property zookeeper.DigestAuthenticationProvider.superDigest.
	SuperDigest string
	// EnforceQuota refuses writes beyond a hard limit, as enforceQuota=true does.
	EnforceQuota bool
	// ContainerCheckInterval is the time between two searches for containers and
	// TTL nodes that may go, in whole milliseconds; 0 means 60 s, a negative one
	// never. It is the property znode.container.checkIntervalMs.
	ContainerCheckInterval time.Duration
	// Observe, unless it is nil, sees the reaction to every call that has one,
	// before the caller does. frameBytes is the length of the frame that was
	// handled, 0 if there was none. It must not call the engine.
	Observe func(frameBytes int, r Reaction)
}

// Engine is one server. Use New.
type Engine struct {
	cfg           Config
	store         *state.Store
	conns         map[ConnID]*conn
	strangers     expiryQueue[ConnID] // those of conns that have not shaken hands
	sessions      map[int64]*session
	expiries      expiryQueue[int64] // of sessions
	watches       watches
	reaper        reaper
	nextSessionID int64
	stats         Stats

	// Of the call under way; the slices are used again by the next call.
	out      []Output
	buf      []byte
	applied  []Applied
	notified [][]int64
	watchers []Watchers // as many
	told     []int64
	hit      []*conn
	byServer bool // it ends a session without being asked to
}

// A conn is an open transport connection.
type conn struct {
	id          ConnID
	ip          string
	session     *session   // nil before the handshake
	hasReadOnly bool       // the client knows of the readOnly byte
	ids         []proto.ID // what it has proved, its address included, in the order of whoAmI
	opened      int64      // ms
	// Its watches by path, as watchTable keeps them; nil until there is a first one.
	dataWatches, childWatches map[string]WatchMode

	queued int64 // requests without a reply
	stats  connStats
}

// sessionID is 0 before the handshake, and for no connection.
func (c *conn) sessionID() int64 {
	if c == nil || c.session == nil {
		return 0
	}
	return c.session.id
}

// serverID is that of a standalone server, the first byte of its session ids.
const serverID = 1

// New returns a server with an empty tree whose session ids derive from now,
// as a real server's do (SessionTrackerImpl.initializeNextSessionId).
func New(cfg Config, now time.Time) *Engine {
	return &Engine{
		cfg:           cfg,
		store:         state.New(state.Config{EnforceQuota: cfg.EnforceQuota}),
		conns:         map[ConnID]*conn{},
		strangers:     newExpiryQueue[ConnID](),
		sessions:      map[int64]*session{},
		expiries:      newExpiryQueue[int64](),
		watches:       newWatches(),
		reaper:        newReaper(cfg.ContainerCheckInterval, now.UnixMilli()),
		nextSessionID: serverID<<56 | int64(uint64(now.UnixMilli())<<24>>8),
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
	// ByServer says that the server did it of its own accord: an expiry, the end
	// of a container, or what Submit was asked to do.
	ByServer bool
	// Notified are the sessions told of each of Result.Events.
	Notified [][]int64
	// Watchers are those of each of Result.Events.
	Watchers []Watchers
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
	Body proto.Request
	Zxid int64
	Err  proto.ErrCode
	// Reply is the body of the reply. Few errors have one: a multi or multiRead
	// that could not be carried out (with Err) and a multi of which an operation
	// failed (without).
	Reply proto.Reply
	// Silent says that no reply was sent.
	Silent bool
}

// Open announces a connection from an address, "127.0.0.1" say.
func (e *Engine) Open(id ConnID, ip string, now time.Time) {
	c := &conn{
		id: id, ip: ip, ids: []proto.ID{{Scheme: "ip", ID: ip}},
		opened: now.UnixMilli(),
	}
	e.conns[id] = c
	e.strangers.add(id, sessionlessDeadline(c.opened))
}

// Drop announces that a connection is gone. Its session lives on, its watches do not.
func (e *Engine) Drop(id ConnID) {
	c := e.conns[id]
	if c == nil {
		return
	}
	delete(e.conns, id)
	e.watches.drop(c)
	if c.session == nil {
		e.strangers.remove(id, sessionlessDeadline(c.opened))
	} else if c.session.conn == c {
		c.session.conn = nil
	}
}

// Handle takes one frame, without its length prefix, and does not keep it.
// A frame of a connection that the engine closed is ignored.
func (e *Engine) Handle(id ConnID, frame []byte, now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	c := e.conns[id]
	if c == nil {
		return Reaction{}
	}
	e.countReceived(c)
	var r Request
	if c.session == nil {
		r = e.handshake(c, frame, ms)
	} else {
		r = e.request(c, frame, ms)
	}
	return e.react(len(frame), r)
}

// begin forgets what the call before caused.
func (e *Engine) begin(now int64) {
	e.out, e.applied, e.buf = e.out[:0], e.applied[:0], e.buf[:0]
	e.notified, e.watchers, e.told = e.notified[:0], e.watchers[:0], e.told[:0]
	e.skipIdleChecks(now)
}

// reaction is that to a call without a frame.
func (e *Engine) reaction() Reaction { return e.react(0, Request{}) }

func (e *Engine) react(frameBytes int, req Request) Reaction {
	r := Reaction{Out: e.out, Applied: e.applied, Request: req}
	if e.cfg.Observe != nil {
		e.cfg.Observe(frameBytes, r)
	}
	return r
}
