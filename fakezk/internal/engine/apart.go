package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Leave says that the other servers go on without a server, which does not know: it keeps its tree,
// its connections, and the sessions that there are now. It answers reads, pings, syncs and clients
// that come back with such a session. The caller of Handle keeps from it all that a leader with a
// majority has to answer. The others hear nothing of its clients. The leader may leave, too; then
// Elect comes next.
func (e *Engine) Leave(server int) {
	r := e.ensemble.servers[server]
	if r.isApart() {
		return
	}
	if r == e.leader {
		e.begin(e.last)
		e.catchUp(r) // it has decided that these are committed
	}
	r.forgetTouched()
	r.known = make(map[int64]*session, len(e.sessions.byID))
	for id, s := range e.sessions.byID {
		known := *s
		r.known[id] = &known
		if c := s.conn; c != nil && c.at == r {
			c.session, s.conn = &known, nil
		}
	}
	for _, c := range e.conns.open { // those of sessions that have moved or ended
		if c.at == r && c.session != nil && c.session != r.known[c.session.id] {
			known := *c.session
			c.session = &known
		}
	}
}

// Down says that a server goes down. It forgets the requests of which the leader has not heard. If
// it has left the others it is with them again: its connections are closed, and it applies all that
// it lacks.
func (e *Engine) Down(server int, now time.Time) Reaction {
	e.begin(now.UnixMilli())
	r := e.ensemble.servers[server]
	r.forgetTouched()
	if !r.isApart() {
		return e.reaction()
	}
	for _, id := range slices.Sorted(maps.Keys(e.conns.open)) {
		if c := e.conns.open[id]; c.at == r {
			c.hangUp()
		}
	}
	r.known = nil
	e.ensemble.catchUp(r)
	return e.reaction()
}

// leader is the tree by which the leader decides the writes. None may come to a server that is
// apart.
func (x *exchange) leader() *state.Store {
	if x.c.at.isApart() {
		panic(fmt.Sprintf("engine: %s at a server that is apart", x.r.Header.Op))
	}
	return x.e.ensemble.decided
}

// session is the session with an id as the connection's server knows it, nil if there is none.
func (x *exchange) session(id int64) *session {
	if x.c.at.isApart() {
		if s := x.c.at.known[id]; s != nil && !s.runOut(x.now) {
			return s
		}
		return nil
	}
	s := x.e.sessions.byID[id]
	ensemble := &x.e.ensemble
	if s != nil && x.c.at == ensemble.leader && s.expiresAt <= x.now &&
		ensemble.isSilent(x.c.at) {
		marks.Hit("session ended by a leader cut off")
		return nil
	}
	return s
}

// touchApart restarts the expiry timer of the session as a server knows it that is apart. If the
// timer has run out the server drops the request: it has ended the session for itself, and not for
// the others.
//
// Source: SessionTrackerImpl.touchSession; ZooKeeperServer.submitRequestNow.
func (x *exchange) touchApart() bool {
	s := x.c.session
	if s.runOut(x.now) {
		return false
	}
	s.expiresAt = x.e.sessions.endOfTick(x.now + s.timeoutMs)
	return true
}

// runOut ends a session, as a server knows it that is apart, whose timer has run out. It reports
// whether the session has ended.
func (s *session) runOut(now int64) bool {
	if !s.ended && s.expiresAt <= now {
		marks.Hit("session ended apart")
		s.ended = true
	}
	return s.ended
}
