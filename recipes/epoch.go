package recipes

import "github.com/go-zookeeper/zk"

// epoch is one session of a connection. What was read or made in it holds no
// longer than it does, and the client replaces an expired session without
// being asked. Whoever decides something on a reply begins with the epoch and
// asks after the reply whether it is still the same.
type epoch struct {
	conn    Conn
	session int64
}

// epoch returns the epoch of now.
func (r *requests) epoch() epoch { return epoch{r.conn, r.conn.SessionID()} }

// check returns errRestart if the session is another one now, or there was
// none.
func (e epoch) check() error {
	if e.session == 0 || e.conn.SessionID() != e.session {
		return errRestart
	}
	return nil
}

// owns reports whether an ephemeral node with this stat belongs to the epoch
// and the epoch has not ended.
func (e epoch) owns(stat *zk.Stat) bool {
	return stat.EphemeralOwner == e.session && e.check() == nil
}
