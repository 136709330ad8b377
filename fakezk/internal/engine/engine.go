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
// server has its own tree, connections and watches. The leader decides every write, and keeps the
// sessions. Each server answers reads from its own tree. With several, each applies the
// transactions in order, when the caller of Follow says so: the leader, too, may be behind the
// answer of a follower. Before a server answers a write or a sync it applies all of them; before a
// handshake, too, but for that of a known session at the leader. The client has then seen what it
// did, and everything before.
//
// The others may go on without a server (Leave), the leader too. Until it goes down (Down)
// it answers reads, syncs and clients that come back from its own tree and the sessions that it
// knows.
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
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Engine is one server, or an ensemble. Use New.
type Engine struct {
	ensemble // whose exported methods are also those of the Engine
	cfg      Config
	conns    connections
	sessions sessions
	reaper   reaper
	last     int64 // ms, the time of the last call
}

// New returns a server with an empty tree. The session ids derive from now, as a real
// server's do (SessionTrackerImpl.initializeNextSessionId).
func New(cfg Config, now time.Time) *Engine {
	e := &Engine{
		cfg:      cfg,
		conns:    newConnections(cfg.HideCounts),
		sessions: newSessions(cfg, now.UnixMilli()),
		reaper:   newReaper(cfg.ContainerCheckInterval, now.UnixMilli()),
		last:     now.UnixMilli(),
	}
	e.ensemble = newEnsemble(cfg, &e.conns)
	return e
}

// Open adds a connection to a server, by its number from 0, from an address such as "127.0.0.1".
func (e *Engine) Open(id ConnID, server int, ip string, now time.Time) {
	e.conns.add(id, e.ensemble.servers[server], ip, now.UnixMilli())
}

// Drop removes a connection and its watches, and forgets the effects of the last call. The session
// of the connection lives on.
func (e *Engine) Drop(id ConnID) {
	e.conns.drop(id)
	e.conns.outbox, e.ensemble.journal = outbox{}, journal{}
}

// Handle carries out one frame, given without its length prefix, and does not keep it.
// It ignores a frame of a connection that the engine has closed.
func (e *Engine) Handle(id ConnID, frame []byte, now time.Time) Reaction {
	return e.handle(id, frame, proto.OK, now)
}

// Refuse is Handle for a request that is answered with an error instead of being carried out. No
// zxid is consumed, and no watch is set.
func (e *Engine) Refuse(id ConnID, frame []byte, with proto.ErrCode, now time.Time) Reaction {
	return e.handle(id, frame, with, now)
}

func (e *Engine) handle(id ConnID, frame []byte, refusal proto.ErrCode, now time.Time) Reaction {
	e.begin(now.UnixMilli())
	c := e.conns.open[id]
	if c == nil {
		return Reaction{}
	}
	e.conns.countReceived(c)
	x := exchange{e: e, c: c, now: now.UnixMilli(), refusal: refusal}
	if c.session == nil {
		x.handshake(frame)
	} else {
		x.request(frame)
	}
	return e.react(len(frame), x.r)
}

// begin clears the effects of the previous call.
func (e *Engine) begin(now int64) {
	e.last = max(e.last, now)
	e.conns.outbox.clear()
	e.ensemble.journal.clear()
	e.ensemble.clearWatches()
	e.reaper.skipIdleChecks(now, e.Store())
}

// reaction returns the reaction to a call without a frame.
func (e *Engine) reaction() Reaction { return e.react(0, Request{}) }

func (e *Engine) react(frameBytes int, req Request) Reaction {
	done := &e.ensemble.journal
	r := Reaction{
		Out: e.conns.outbox.out, Applied: done.applied, Followed: done.followed, Request: req,
	}
	if e.cfg.Observe != nil {
		e.cfg.Observe(frameBytes, r)
	}
	return r
}

// NextDeadline returns the time at which Tick must be called; the zero time means never. It may
// have passed already, while there is work that was too long for one call.
func (e *Engine) NextDeadline() time.Time {
	if e.ensemble.hasWatchesLeft() {
		return time.UnixMilli(e.last)
	}
	next := min(e.sessions.expiries.first, e.pingAt, e.conns.sessionless.first,
		e.reaper.next(e.Store()))
	if next == never {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// Tick lets the leader hear of the sessions at followers, ends expired sessions, closes connections
// without a handshake and deletes containers and TTL nodes. Sessions of one tick end in order of
// id. (On a real server the order depends on the addresses of its objects.)
func (e *Engine) Tick(now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	stoodStill := e.isLate(ms)
	if !stoodStill {
		e.ping(ms)
	}
	for ids := e.sessions.expiries.due(ms); len(ids) > 0; ids = e.sessions.expiries.due(ms) {
		for _, id := range ids {
			e.endSession(e.sessions.byID[id], ms)
		}
	}
	if stoodStill {
		e.ping(ms)
	}
	e.conns.hangUpSessionless(ms)
	for path := range e.reaper.due(ms, e.ensemble.leaderTime(ms), e.Store()) {
		e.ensemble.apply(e.Store().Prepare(&proto.DeleteContainer{Path: path}, state.Caller{}, ms))
	}
	return e.reaction()
}

// endSession applies closeSession on behalf of the server and then closes the session's connection,
// which is first notified of its own ephemerals. A follower does so when it applies the
// transaction. (The real server closes it from another thread than it fires the watches, so any
// number of the last notifications may be lost.)
//
// Source: FinalRequestProcessor.processRequest, closeSession.
func (e *Engine) endSession(s *session, now int64) {
	e.sessions.forget(s)
	e.ensemble.apply(e.Store().PrepareCloseSession(s.id, now)).ByServer = true
	if c := s.conn; c != nil && c.at == e.leader {
		e.catchUp(e.leader)
		if !c.gone {
			c.hangUp()
		}
	}
}

// Expire ends a session now, as if it had expired. It reports whether there was such a session.
func (e *Engine) Expire(id int64, now time.Time) (Reaction, bool) {
	e.begin(now.UnixMilli())
	s := e.sessions.byID[id]
	if s == nil {
		return Reaction{}, false
	}
	e.endSession(s, now.UnixMilli())
	return e.reaction(), true
}

// ExpireLate refuses a session from now on but keeps its ephemerals until a later time,
// as a lagging follower shows them. It reports whether there was such a session.
func (e *Engine) ExpireLate(id int64, reapAt time.Time) (Reaction, bool) {
	e.begin(0)
	s := e.sessions.byID[id]
	if s == nil || s.ended {
		return Reaction{}, false
	}
	s.ended = true
	e.sessions.setExpiry(s, reapAt.UnixMilli())
	if s.conn != nil {
		s.conn.hangUp()
	}
	return e.reaction(), true
}

// ReapEnded removes the ephemerals that ExpireLate has kept.
func (e *Engine) ReapEnded(now time.Time) Reaction {
	e.begin(now.UnixMilli())
	for _, s := range e.sessions.inOrder() {
		if s.ended {
			e.endSession(s, now.UnixMilli())
		}
	}
	return e.reaction()
}

// Restart closes every connection and restarts the expiry timer of every session, as a
// server does that restarts with its data, or an ensemble without a leader.
func (e *Engine) Restart(now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	e.conns.hangUpAll()
	e.sessions.restart(ms)
	e.pingAt = never
	for _, r := range e.servers {
		r.forgetTouched()
	}
	e.reaper = newReaper(e.cfg.ContainerCheckInterval, ms)
	return e.reaction()
}
