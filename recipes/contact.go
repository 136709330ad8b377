package recipes

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// contact judges from looks at a connection whether one session can still be alive. It sends no
// request. The zero value is of no session.
type contact struct {
	session  int64
	timeout  time.Duration // that the server granted; zero: only a new session ends this one
	lastSeen time.Time     // when the session was last seen connected
}

// newContact begins when the session was just used.
func newContact(session int64, timeout time.Duration) contact {
	return contact{session: session, timeout: timeout, lastSeen: time.Now()}
}

// look looks at the connection. The session is lost if the connection has another one, or may be
// over by the next look. The client notices a silent connection after two thirds of the timeout, so
// a third is left, minus a tenth for the interval of the looks and the way of a reply.
func (c *contact) look(conn Conn) ConnState {
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

// looks returns a channel that ticks twenty times per timeout, or never if there is none.
func looks(timeout time.Duration) (<-chan time.Time, func()) {
	every := timeout / 20
	if every <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}
