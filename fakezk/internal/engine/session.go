package engine

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/marks"
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

// left says that a connection of the session is gone.
func (s *session) left(c *conn) {
	s.watched = len(c.dataWatches)+len(c.childWatches) > 0
	if s.conn == c {
		s.conn = nil
	}
}

// sessions are the live sessions and the times at which they expire. The leader keeps them.
type sessions struct {
	byID         map[int64]*session
	expiries     expiryQueue[int64]
	nextID       int64
	tickMs       int64
	minMs, maxMs int64 // of a timeout
}

// serverID is the id of a standalone server, the first byte of its session ids.
const serverID = 1

func newSessions(cfg Config, now int64) sessions {
	return sessions{
		byID:     map[int64]*session{},
		expiries: newExpiryQueue[int64](),
		nextID:   serverID<<56 | int64(uint64(now)<<24>>8),
		tickMs:   cfg.TickTime.Milliseconds(),
		minMs:    cfg.MinSessionTimeout.Milliseconds(),
		maxMs:    cfg.MaxSessionTimeout.Milliseconds(),
	}
}

// negotiate returns the timeout that a client gets.
func (ss *sessions) negotiate(requestedMs int32) int64 {
	return min(max(int64(requestedMs), ss.minMs), ss.maxMs)
}

// add adds a session, whose expiry timer does not run yet.
func (ss *sessions) add(timeoutMs int64) *session {
	s := &session{id: ss.nextID, timeoutMs: timeoutMs}
	ss.nextID++
	ss.byID[s.id] = s
	return s
}

// touch restarts a session's expiry timer.
func (ss *sessions) touch(s *session, now int64) {
	if s.ended {
		marks.Hit("request of an ended session")
		return
	}
	ss.setExpiry(s, ss.endOfTick(now+s.timeoutMs))
}

// expireIn sets the expiry timer of a session to a time that may have run out already. The session
// then lands in a past tick, which the real server never handles.
func (ss *sessions) expireIn(s *session, ms, now int64) {
	ss.setExpiry(s, ss.endOfTick(now+ms))
	if s.expiresAt < ss.endOfTick(now) {
		marks.Hit("timeout that has run out")
		ss.expiries.remove(s.id, s.expiresAt)
	}
}

// endOfTick returns the time at which the real server handles an expiry at a given
// time: never early and at most one tick late.
func (ss *sessions) endOfTick(at int64) int64 { return at/ss.tickMs*ss.tickMs + ss.tickMs }

func (ss *sessions) setExpiry(s *session, at int64) {
	if at == s.expiresAt {
		return
	}
	ss.expiries.remove(s.id, s.expiresAt)
	s.expiresAt = at
	ss.expiries.add(s.id, at)
}

// restart restarts the expiry timer of every session. A session that was to be reaped in the
// meantime is reaped right after.
func (ss *sessions) restart(now int64) {
	for _, s := range ss.byID {
		if s.ended {
			marks.Hit("late reap after a restart")
			ss.setExpiry(s, max(s.expiresAt, now+1))
		} else {
			ss.touch(s, now)
		}
	}
}

func (ss *sessions) forget(s *session) {
	s.ended = true
	ss.expiries.remove(s.id, s.expiresAt)
	delete(ss.byID, s.id)
}

// inOrder lists the sessions in order of id.
func (ss *sessions) inOrder() []*session {
	list := make([]*session, 0, len(ss.byID))
	for _, id := range slices.Sorted(maps.Keys(ss.byID)) {
		list = append(list, ss.byID[id])
	}
	return list
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
