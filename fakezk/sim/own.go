package sim

import (
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// ownConn is the World's knowledge of a connection that the client's own code has dialed. The World
// cannot look into the code's client package, so it reads the connection's bytes to know what the
// package tells the code.
type ownConn struct {
	host      string // dialed; "" for a connection of Connect
	connected bool   // the client has been told of its session, and of no loss
	closing   bool   // the client has closed its session
}

// noteReply notes what a message to the client tells it: the first one accepts or refuses its
// session.
func (l *link) noteReply(frame []byte) {
	if l.ownConn.host == "" || l.ownConn.connected || l.ownConn.closing || len(frame) < 4 {
		return
	}
	switch r, err := wire.DecodeConnectResponse(frame[4:]); {
	case err != nil: // half of it
	case r.SessionID == 0:
		l.ownConn.closing = true
		l.told(trace.SessionExpired)
	default:
		l.ownConn.connected = true
		l.told(trace.Connected)
	}
}

// noteLost notes that the connection has ended.
func (l *link) noteLost() {
	if l.ownConn.connected && !l.ownConn.closing {
		l.told(trace.Disconnected)
	}
	l.ownConn.connected = false
}

// told records what a client's own code is told.
func (l *link) told(kind trace.NoticeKind) {
	if !l.process.isDead() {
		l.net.record.Notice(l.process.name, kind, "is told: %s", kind)
	}
}

// noteRequest notes a request of the client.
func (c *ownConn) noteRequest(frame []byte) {
	if h, _, err := wire.DecodeHeader(frame); err == nil && h.Op == proto.OpCloseSession {
		c.closing = true
	}
}
