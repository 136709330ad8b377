package carry

import "time"

// pauseFor begins or prolongs the time in which a server stands still. A server that is down does
// not.
func (n *Servers) pauseFor(server int, now, until time.Duration) {
	if !n.IsDown(server, now) {
		prolong(n.paused, server, now, until)
	}
}

// PausedUntil is when a server goes on that stands still; 0 if it does not.
func (n *Servers) PausedUntil(server int, now time.Duration) time.Duration {
	if until := n.paused[server].until; until > now {
		return until
	}
	return 0
}

// standsUntil is the next time at which a server that stands still may go on, which it does when
// the driver calls GoOn; 0 if it does not stand still.
func (n *Servers) standsUntil(server int, now time.Duration) time.Duration {
	if s, stands := n.paused[server]; stands {
		return max(s.until, now+1)
	}
	return 0
}

// LeftBehindAt is when the others go on without a server that stands still: when it has done so for
// syncLimit; 0 if that time is over, or if the server goes on before.
func (n *Servers) LeftBehindAt(server int, now time.Duration) time.Duration {
	return n.reached(n.paused[server], now)
}

// IsLeftBehind reports whether a server stands still, or has done so up to now, for so long that
// the others go on without it.
func (n *Servers) IsLeftBehind(server int, now time.Duration) bool {
	s, ok := n.paused[server]
	return ok && n.limit(s) <= now
}

// GoOn ends the time in which a server stands still, if it is over, and reports whether it has
// ended it.
func (n *Servers) GoOn(server int, now time.Duration) bool {
	s, ok := n.paused[server]
	if !ok || now < s.until {
		return false
	}
	delete(n.paused, server)
	return true
}

// isUnaware reports whether a server does not notice that the others elect a leader: it stands
// still, or it leads and is cut off. One for which that ends at this very moment does not, either.
func (n *Servers) isUnaware(server int, now time.Duration) bool {
	in := func(spans map[int]span) bool {
		s, ok := spans[server]
		return ok && now <= s.until
	}
	return !n.IsDown(server, now) &&
		(in(n.paused) || server == n.ensemble.Leader() && in(n.cutOff))
}

// depose says that the others have no leader in a server any more, which believes to lead for one
// more tick: from now on or, if it stands still, from when it goes on. It answers what a leader
// answers alone, and keeps all else waiting.
func (n *Servers) depose(server int, now time.Duration) {
	n.believes[server] = max(now, n.paused[server].until) + n.ensemble.Tick
}

// BelievesUntil is when a server notices that was deposed, which it does not while it stands still;
// 0 if there is nothing to notice.
func (n *Servers) BelievesUntil(server int) time.Duration {
	noticesAt, deposed := n.believes[server]
	if !deposed {
		return 0
	}
	return max(noticesAt, n.paused[server].until)
}
