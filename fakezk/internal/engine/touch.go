package engine

// A follower does not tell the leader of each request. It tells it of the sessions that have sent
// some when the leader pings it, each half tick. What it has not told when it goes down is lost:
// the sessions then end up to half a tick, or the time between two requests, before they would.
//
// Source: LearnerSessionTracker.touchTable; Learner.ping; LearnerHandler, PING.

// touch restarts the expiry timer of the session, or will when the leader hears of it. It reports
// false if the server drops the request, without a reply.
func (x *exchange) touch() bool {
	switch at := x.c.at; {
	case at.isApart():
		return x.touchApart()
	case at == x.e.leader:
		x.e.sessions.touch(x.c.session, x.now)
	default:
		if at.missed && x.e.reachesLeader(at) {
			x.e.tell(at, x.now) // the ping that was held comes before all that follows
		}
		at.touched[x.c.session.id] = true
		x.e.pingAt = min(x.e.pingAt, x.e.nextPing(x.now))
	}
	return true
}

// expiresAt is when a session ends if the leader hears of all its requests.
func (e *Engine) expiresAt(s *session) int64 {
	at := s.expiresAt
	for _, r := range e.servers {
		if r.touched[s.id] && !s.ended {
			at = max(at, e.sessions.endOfTick(e.pingAt+s.timeoutMs))
		}
	}
	return at
}

// nextPing is when the leader pings the followers next. Sessions end with a tick. A real leader
// pings at any time of it; this one does so shortly before each half tick, so that a session which
// it has just heard of lives for little more than its timeout.
func (e *Engine) nextPing(now int64) int64 {
	half := e.halfTick()
	before := half / 8
	return (now+before)/half*half + half - before
}

func (e *Engine) halfTick() int64 { return max(1, e.sessions.tickMs/2) }

// isLate reports whether the leader has missed a ping, because it stood still or had no majority.
// It then ends sessions before it hears of their requests.
func (e *Engine) isLate(now int64) bool { return now-e.pingAt >= e.halfTick() }

// ping lets the leader hear of the touched sessions, if it is time, but for those of servers that
// it does not reach: these tell it later.
func (e *Engine) ping(now int64) {
	if now < e.pingAt {
		return
	}
	e.pingAt = never
	for _, r := range e.servers {
		if len(r.touched) > 0 && !e.reachesLeader(r) {
			r.missed, e.pingAt = true, e.nextPing(now)
			continue
		}
		e.tell(r, now)
	}
}

// tell lets the leader hear of the sessions that a server has touched.
func (e *Engine) tell(r *replica, now int64) {
	for id := range r.touched {
		if s := e.sessions.byID[id]; s != nil {
			e.sessions.touch(s, now)
		}
	}
	r.forgetTouched()
}

func (r *replica) forgetTouched() {
	clear(r.touched)
	r.missed = false
}
