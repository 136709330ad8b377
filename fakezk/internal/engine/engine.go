// Package engine is a ZooKeeper 3.8 server, or an ensemble, without network and clock. Its
// caller passes in frames and the time, and gets frames back.
//
//	e.Open(id, server, peer, now)       a transport connection was opened
//	e.Handle(id, frame, now) Reaction   a frame of the connection arrived
//	e.Drop(id)                          the connection is gone
//	e.Tick(now) Reaction                time passed; call it at e.NextDeadline()
//	e.Follow(server, zxid, now)         a follower applies the leader's transactions
//
// The engine owns sessions, connections, watches and identities. It expires sessions and
// deletes containers and TTL nodes. The rules of the znode tree are in package state, the
// bytes in package wire.
//
// # Ensembles
//
// An Engine is the servers of an ensemble, by number from 0; one server is an ensemble of one. A
// server has its own tree, connections and watches. The leader decides and applies every write, and
// keeps the sessions. A follower answers reads from its own tree. It applies the leader's
// transactions in order, when the caller of Follow says so; before it answers a write, a sync or a
// first handshake it applies all of them. The client has then seen what it did, and everything
// before.
//
// A real leader answers when a majority has stored a transaction, and the servers apply it a little
// later. Clients cannot tell: the outcome of a request without a reply is open anyway.
//
// # Guarantees
//
// An Engine starts no goroutine, reads no clock and draws no random number, so the same
// calls give the same outputs. It calls only functions of its [Config].
//
// A real server's order sometimes depends on the addresses of its objects. The engine's
// is fixed: it notifies connections of one event in order of their ids, and ends
// sessions of one tick in order of theirs.
//
// # Limits
//
// An Engine is not safe for concurrent use: the front that drives it (the real-time
// server or the World) owns it.
package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/digestmd5"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// ConnID names a transport connection. The front chooses it and never reuses it.
type ConnID int64

// Config holds the settings of a server. The first three are required.
type Config struct {
	// TickTime is the unit of session expiry, at least a millisecond.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the negotiated session timeout;
	// a real server's defaults are 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Servers is the number of servers of the ensemble; 0 means 1.
	Servers int
	// Skew is by how many milliseconds the clock of a server is fast, by which it dates
	// transactions when it leads; nil means that all clocks agree.
	Skew func(server int) int64
	// OrderChildren sorts the names that getChildren returns; nil leaves them in the
	// store's order. tree is that of the server that answers, changes the number of creations
	// and deletions of children of parent.
	OrderChildren func(tree *state.Store, parent string, changes int32, names []string)
	// SuperDigest is the digest identity that passes every ACL check,
	// "user:base64(sha1(user:password))", or empty for none. It is the property
	// zookeeper.DigestAuthenticationProvider.superDigest.
	SuperDigest string
	// EnforceQuota refuses writes beyond a hard limit, as enforceQuota=true does.
	EnforceQuota bool
	// Digests keeps digests of the tree for the four-letter word hash.
	Digests bool
	// Interrupted, unless nil, is asked in the course of a long multi, which fails with SystemError
	// when it returns true.
	Interrupted func() bool
	// ContainerCheckInterval is the time between two searches for containers and
	// TTL nodes to delete, in whole milliseconds; 0 means 60 s, a negative one
	// never. It is the property znode.container.checkIntervalMs.
	ContainerCheckInterval time.Duration
	// SASLUsers are the passwords by name of the users who may authenticate by SASL DIGEST-MD5, as
	// a JAAS file lists them. Without users the server answers as one without SASL, and the ACL
	// scheme sasl does not exist.
	SASLUsers map[string]string
	// Nonce returns the nonce of a SASL challenge; it is required with SASLUsers. In a server it is
	// random.
	Nonce func() string
	// Observe, unless nil, is called with every reaction before it is returned. frameBytes is the
	// length of the handled frame, 0 without one. Observe must not call the engine.
	Observe func(frameBytes int, r Reaction)
}

// Engine is one server. Use New.
type Engine struct {
	cfg           Config
	replicas      []*replica // by number
	leader        *replica
	conns         map[ConnID]*conn
	sessionless   expiryQueue[ConnID] // the connections without a handshake
	sessions      map[int64]*session
	expiries      expiryQueue[int64] // of sessions
	reaper        reaper
	nextSessionID int64
	stats         Stats

	effects
	hit      []*conn // of the call under way
	byServer bool    // the server itself ends a session
}

// effects are those of the call under way. The next call reuses the slices.
type effects struct {
	out         []Output
	buf         []byte
	applied     []Applied
	followed    []Applied
	notified    [][]int64  // for each event
	watchers    []Watchers // for each event
	notifiedIDs []int64    // backs notified
}

// A conn is an open transport connection.
type conn struct {
	id          ConnID
	at          *replica // the server of the connection
	ip          string
	session     *session            // nil before the handshake
	closes      bool                // the client closes the session
	hasReadOnly bool                // the connect request had a readOnly byte
	sasl        *digestmd5.Exchange // nil before the first token, and without users
	ids         state.Identities    // the address included
	opened      int64               // ms
	// The modes of the watches by path, kept by watchTable; nil before the first.
	dataWatches, childWatches map[string]WatchMode

	queued int64 // requests without a reply
	stats  connStats
}

// sessionID returns 0 before the handshake, and for a nil connection.
func (c *conn) sessionID() int64 {
	if c == nil || c.session == nil {
		return 0
	}
	return c.session.id
}

// serverID is the id of a standalone server, the first byte of its session ids.
const serverID = 1

// New returns a server with an empty tree. The session ids derive from now, as a real
// server's do (SessionTrackerImpl.initializeNextSessionId).
func New(cfg Config, now time.Time) *Engine {
	e := &Engine{
		cfg:           cfg,
		conns:         map[ConnID]*conn{},
		sessionless:   newExpiryQueue[ConnID](),
		sessions:      map[int64]*session{},
		expiries:      newExpiryQueue[int64](),
		reaper:        newReaper(cfg.ContainerCheckInterval, now.UnixMilli()),
		nextSessionID: serverID<<56 | int64(uint64(now.UnixMilli())<<24>>8),
	}
	for range max(1, cfg.Servers) {
		e.replicas = append(e.replicas, newReplica(cfg))
	}
	e.leader = e.replicas[0]
	return e
}

func (c Config) state() state.Config {
	return state.Config{
		EnforceQuota: c.EnforceQuota, SASL: len(c.SASLUsers) > 0, Digests: c.Digests,
		Interrupted: c.Interrupted, Members: c.members(),
	}
}

// members is the data of /zookeeper/config in an ensemble, on one host and with the usual ports.
func (c Config) members() string {
	if c.Servers <= 1 {
		return ""
	}
	var b strings.Builder
	for i := range c.Servers {
		fmt.Fprintf(&b, "server.%d=127.0.0.1:%d:%d:participant\n", i+1, 2888+i, 3888+i)
	}
	return b.String() + "version=0"
}

// Output is one action on a connection. The front carries them out in order. A frame's
// bytes are valid until the next call of the engine.
type Output struct {
	Conn ConnID
	// Frame is the frame to send, with its length prefix, or nil with Close.
	Frame []byte
	// Close says to close the connection.
	Close bool
	// Event is set if the frame is a watch notification.
	Event *proto.WatcherEvent
}

// Applied is one transaction that the call let a server apply.
type Applied struct {
	Txn    state.Txn
	Result state.Result
	// ByServer says that the transaction is the server's own and not a client's: an
	// expiry, the deletion of a container, or a request of Submit.
	ByServer bool
	// Notified has the notified sessions for each of Result.Events.
	Notified [][]int64
	// Watchers has the number of watchers for each of Result.Events.
	Watchers []Watchers
}

// Reaction is the effect of one call. Its slices are valid until the next call of the engine.
type Reaction struct {
	Out     []Output
	Applied []Applied // by the leader
	// Followed are transactions that followers have applied, in order.
	Followed []Applied
	// Request is the request that Handle answered.
	Request Request
}

// Request is a decoded frame and the reply to it.
type Request struct {
	// Handshake says that the frame was a connect request. Session is the session
	// of the connection after the frame, 0 if it was refused.
	Handshake bool
	Session   int64
	Header    proto.RequestHeader
	// Body is nil if the frame could not be decoded.
	Body proto.Request
	Zxid int64
	Err  proto.ErrCode
	// Reply is the body of the reply. Only two kinds of errors have one: a multi or multiRead that
	// cannot be carried out (with Err), and a multi that failed at one operation (without Err).
	Reply proto.Reply
	// Silent says that no reply was sent.
	Silent bool
	// TooLarge says that the reply to a multiRead would be too large, and that the connection was
	// closed instead.
	TooLarge bool
}

// Open adds a connection to a server, by its number from 0, from an address such as "127.0.0.1".
func (e *Engine) Open(id ConnID, server int, ip string, now time.Time) {
	c := &conn{id: id, at: e.replicas[server], ip: ip, opened: now.UnixMilli()}
	c.ids.Add(proto.ID{Scheme: "ip", ID: ip})
	e.conns[id] = c
	e.sessionless.add(id, sessionlessDeadline(c.opened))
}

// Drop removes a connection and its watches, and forgets the effects of the last call. The session
// of the connection lives on.
func (e *Engine) Drop(id ConnID) {
	e.drop(id)
	e.effects = effects{}
}

func (e *Engine) drop(id ConnID) {
	c := e.conns[id]
	if c == nil {
		return
	}
	delete(e.conns, id)
	if c.session != nil {
		c.session.watched = len(c.dataWatches)+len(c.childWatches) > 0
	}
	c.at.watches.drop(c)
	if c.session == nil {
		e.sessionless.remove(id, sessionlessDeadline(c.opened))
	} else if c.session.conn == c {
		c.session.conn = nil
	}
}

// Handle carries out one frame, given without its length prefix, and does not keep it.
// It ignores a frame of a connection that the engine has closed.
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

// The capacities up to which slices are kept for the next call.
const (
	keptBuffer = 1 << 20
	keptEvents = 1 << 10
)

// begin clears the effects of the previous call.
func (e *Engine) begin(now int64) {
	if cap(e.buf) > keptBuffer || cap(e.notified) > keptEvents {
		e.effects = effects{}
	}
	e.out, e.applied, e.buf = e.out[:0], e.applied[:0], e.buf[:0]
	e.followed = e.followed[:0]
	e.notified, e.watchers, e.notifiedIDs = e.notified[:0], e.watchers[:0], e.notifiedIDs[:0]
	e.skipIdleChecks(now)
}

// reaction returns the reaction to a call without a frame.
func (e *Engine) reaction() Reaction { return e.react(0, Request{}) }

func (e *Engine) react(frameBytes int, req Request) Reaction {
	r := Reaction{Out: e.out, Applied: e.applied, Followed: e.followed, Request: req}
	if e.cfg.Observe != nil {
		e.cfg.Observe(frameBytes, r)
	}
	return r
}
