package request

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// ConnState is the state of a session as far as the client knows without a request.
type ConnState int

const (
	ConnSuspended ConnState = iota // the connection is down; the session may live on
	ConnConnected                  // the client believes that its connection is up
	ConnLost                       // the session is over, or may be
)

// Liveness tells from looks at the connection whether a session can still be alive. It sends no
// request. The zero value has no session.
type Liveness struct {
	session  int64
	Timeout  time.Duration // granted by the server; zero: only a new session ends this one
	lastSeen time.Time     // when the session was last seen connected
}

// NewLiveness returns the liveness of a session that was used just now.
func NewLiveness(session int64, timeout time.Duration) Liveness {
	return Liveness{session: session, Timeout: timeout, lastSeen: time.Now()}
}

// Look looks at the connection. The session is lost if the connection has another one, or if the
// session may be over before the next look. The client notices a silent connection after two thirds
// of the timeout. Of the last third, a tenth of the timeout is kept for the interval between looks
// and for the transit time of a reply.
func (c *Liveness) Look(conn Conn) ConnState {
	if conn.SessionID() != c.session {
		return ConnLost
	}
	now := time.Now()
	switch {
	case conn.State() == zk.StateHasSession:
		c.lastSeen = now
		return ConnConnected
	case c.Timeout > 0 && now.Sub(c.lastSeen) >= c.Timeout/3-c.Timeout/10:
		return ConnLost
	}
	return ConnSuspended
}

// LookTicker returns a channel that ticks twenty times per timeout. Without a timeout it never
// ticks.
func LookTicker(timeout time.Duration) (<-chan time.Time, func()) {
	every := timeout / 20
	if every <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}
