package recipes

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// liveness tells from looks at the connection whether a session can still be alive. It sends no
// request. The zero value has no session.
type liveness struct {
	session  int64
	timeout  time.Duration // granted by the server; zero: only a new session ends this one
	lastSeen time.Time     // when the session was last seen connected
}

// newLiveness returns the liveness of a session that was used just now.
func newLiveness(session int64, timeout time.Duration) liveness {
	return liveness{session: session, timeout: timeout, lastSeen: time.Now()}
}

// look looks at the connection. The session is lost if the connection has another one, or if the
// session may be over before the next look. The client notices a silent connection after two thirds
// of the timeout. Of the last third, a tenth of the timeout is kept for the interval between looks
// and for the transit time of a reply.
func (c *liveness) look(conn Conn) ConnState {
	if conn.SessionID() != c.session {
		return StateLost
	}
	now := time.Now()
	switch {
	case conn.State() == zk.StateHasSession:
		c.lastSeen = now
		return StateConnected
	case c.timeout > 0 && now.Sub(c.lastSeen) >= c.timeout/3-c.timeout/10:
		return StateLost
	}
	return StateSuspended
}

// lookTicker returns a channel that ticks twenty times per timeout. Without a timeout it never
// ticks.
func lookTicker(timeout time.Duration) (<-chan time.Time, func()) {
	every := timeout / 20
	if every <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}
