package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// never is a time in milliseconds that does not come.
const never = math.MaxInt64

// An expiryQueue holds things by the time at which they end, in milliseconds.
// Times come in ticks, so there are few. The earliest is always at hand.
type expiryQueue[K cmp.Ordered] struct {
	buckets map[int64]map[K]struct{}
	first   int64 // the earliest time with something in it, or never
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

// remove takes out what may be there.
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

// due lists in order what ends first, or nothing if it does not end by now.
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

// endOfTick is when the real server looks at what ends at a time: never early and
// at most one tick late.
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

// Connections that never shake hands are closed after 10 to 20 seconds, in
// buckets of 10 s as the real server's.
const sessionlessMs = 10_000

func sessionlessDeadline(openedMs int64) int64 {
	return (openedMs+sessionlessMs)/sessionlessMs*sessionlessMs + sessionlessMs
}

// NextDeadline is when Tick has something to do; the zero time means never.
func (e *Engine) NextDeadline() time.Time {
	next := min(e.expiries.first, e.strangers.first, e.nextReap())
	if next == never {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// Tick ends the sessions whose time is up, closes connections that never shook
// hands and removes the containers and TTL nodes that may go. Sessions of one tick
// end in order of id. (The real server's order is that of the addresses that
// its objects happen to have.)
func (e *Engine) Tick(now time.Time) Reaction {
	ms := now.UnixMilli()
	e.begin(ms)
	for ids := e.expiries.due(ms); len(ids) > 0; ids = e.expiries.due(ms) {
		for _, id := range ids {
			e.endSession(e.sessions[id], ms)
		}
	}
	for ids := e.strangers.due(ms); len(ids) > 0; ids = e.strangers.due(ms) {
		for _, id := range ids {
			e.hangUp(e.conns[id])
		}
	}
	e.reap(ms)
	return e.reaction()
}

// endSession applies closeSession on behalf of the server and then closes the
// session's connection, which hears of its own ephemerals first. (The real server
// closes it from another thread than the one that fires the watches, so that any
// number of the last notifications may be cut off.)
//
// Source: FinalRequestProcessor.processRequest, closeSession.
func (e *Engine) endSession(s *session, now int64) {
	e.forget(s)
	e.byServer = true
	e.apply(e.store.PrepareCloseSession(s.id, now))
	e.byServer = false
	if s.conn != nil {
		e.hangUp(s.conn)
	}
}

func (e *Engine) forget(s *session) {
	e.expiries.remove(s.id, s.expiresAt)
	delete(e.sessions, s.id)
}

// Expire ends a session now, as if its time were up. It reports whether there
// was such a session.
func (e *Engine) Expire(id int64, now time.Time) (Reaction, bool) {
	e.begin(now.UnixMilli())
	s := e.sessions[id]
	if s == nil {
		return Reaction{}, false
	}
	e.endSession(s, now.UnixMilli())
	return e.reaction(), true
}

// ExpireLate refuses a session from now on but leaves its ephemerals until a
// later time, as a follower that lags behind shows them. It reports whether
// there was such a session.
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

// ReapEnded removes the ephemerals that ExpireLate left.
func (e *Engine) ReapEnded(now time.Time) Reaction {
	e.begin(now.UnixMilli())
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		if e.sessions[id].ended {
			e.endSession(e.sessions[id], now.UnixMilli())
		}
	}
	return e.reaction()
}

// Restart closes every connection and gives every session its full timeout
// again, as a server does that comes back with its data.
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
