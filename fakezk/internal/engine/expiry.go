package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// never is a time in milliseconds that is not reached.
const never = math.MaxInt64

// An expiryQueue holds keys by their time of expiry in milliseconds. Times are rounded
// to ticks, so there are few of them.
type expiryQueue[K cmp.Ordered] struct {
	buckets map[int64]map[K]struct{}
	first   int64 // the earliest time of a key, or never
}

func newExpiryQueue[K cmp.Ordered]() expiryQueue[K] {
	return expiryQueue[K]{buckets: map[int64]map[K]struct{}{}, first: never}
}

func (q *expiryQueue[K]) add(k K, at int64) {
	bucket := q.buckets[at]
	if bucket == nil {
		bucket = map[K]struct{}{}
		q.buckets[at] = bucket
		q.first = min(q.first, at)
	}
	bucket[k] = struct{}{}
}

// remove removes a key, if it is there.
func (q *expiryQueue[K]) remove(k K, at int64) {
	bucket := q.buckets[at]
	delete(bucket, k)
	if bucket == nil || len(bucket) > 0 {
		return
	}
	delete(q.buckets, at)
	if at == q.first {
		q.first = never
		for other := range q.buckets {
			q.first = min(q.first, other)
		}
	}
}

// due returns the keys with the earliest time, in order, or nil if that is after now.
func (q *expiryQueue[K]) due(now int64) []K {
	if q.first > now {
		return nil
	}
	return slices.Sorted(maps.Keys(q.buckets[q.first]))
}

// touch restarts a session's expiry timer.
func (e *Engine) touch(s *session, now int64) {
	if !s.ended {
		e.setExpiry(s, e.endOfTick(now+s.timeoutMs))
	}
}

// endOfTick returns the time at which the real server handles an expiry at a given
// time: never early and at most one tick late.
func (e *Engine) endOfTick(at int64) int64 {
	tick := e.cfg.TickTime.Milliseconds()
	return at/tick*tick + tick
}

func (e *Engine) setExpiry(s *session, at int64) {
	if at == s.expiresAt {
		return
	}
	e.expiries.remove(s.id, s.expiresAt)
	s.expiresAt = at
	e.expiries.add(s.id, at)
}

// sessionlessMs is the length of the buckets in which connections without a handshake
// expire. They are closed after 10 to 20 seconds, as by the real server.
const sessionlessMs = 10_000

func sessionlessDeadline(openedMs int64) int64 {
	return (openedMs+sessionlessMs)/sessionlessMs*sessionlessMs + sessionlessMs
}

// NextDeadline returns the time at which Tick must be called; the zero time means never.
func (e *Engine) NextDeadline() time.Time {
	next := min(e.expiries.first, e.sessionless.first, e.nextReap())
	if next == never {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// Tick ends expired sessions, closes connections without a handshake and deletes
// containers and TTL nodes. Sessions of one tick end in order of id. (On a real server
// the order depends on the addresses of its objects.)
func (e *Engine) Tick(now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	for ids := e.expiries.due(ms); len(ids) > 0; ids = e.expiries.due(ms) {
		for _, id := range ids {
			e.endSession(e.sessions[id], ms)
		}
	}
	for ids := e.sessionless.due(ms); len(ids) > 0; ids = e.sessionless.due(ms) {
		for _, id := range ids {
			e.hangUp(e.conns[id])
		}
	}
	e.reap(ms)
	return e.reaction()
}

// endSession applies closeSession on behalf of the server and then closes the session's connection,
// which is first notified of its own ephemerals. A follower does so when it applies the
// transaction. (The real server closes it from another thread than it fires the watches, so any
// number of the last notifications may be lost.)
//
// Source: FinalRequestProcessor.processRequest, closeSession.
func (e *Engine) endSession(s *session, now int64) {
	e.forget(s)
	e.byServer = true
	e.apply(e.leader.store.PrepareCloseSession(s.id, now))
	e.byServer = false
	if s.conn != nil && s.conn.at == e.leader {
		e.hangUp(s.conn)
	}
}

func (e *Engine) forget(s *session) {
	s.ended = true
	e.expiries.remove(s.id, s.expiresAt)
	delete(e.sessions, s.id)
}

// Expire ends a session now, as if it had expired. It reports whether there was such a session.
func (e *Engine) Expire(id int64, now time.Time) (Reaction, bool) {
	e.begin(now.UnixMilli())
	s := e.sessions[id]
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
	s := e.sessions[id]
	if s == nil || s.ended {
		return Reaction{}, false
	}
	s.ended = true
	e.setExpiry(s, reapAt.UnixMilli())
	if s.conn != nil {
		e.hangUp(s.conn)
	}
	return e.reaction(), true
}

// ReapEnded removes the ephemerals that ExpireLate has kept.
func (e *Engine) ReapEnded(now time.Time) Reaction {
	e.begin(now.UnixMilli())
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		if e.sessions[id].ended {
			e.endSession(e.sessions[id], now.UnixMilli())
		}
	}
	return e.reaction()
}

// Restart closes every connection and restarts the expiry timer of every session, as a
// server does that restarts with its data, or an ensemble without a leader.
func (e *Engine) Restart(now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	for _, id := range slices.Sorted(maps.Keys(e.conns)) {
		e.hangUp(e.conns[id])
	}
	for _, s := range e.sessions {
		e.touch(s, ms)
		if s.ended {
			e.setExpiry(s, max(s.expiresAt, ms+1))
		}
	}
	e.reaper = newReaper(e.cfg.ContainerCheckInterval, ms)
	return e.reaction()
}
