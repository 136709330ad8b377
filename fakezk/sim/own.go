package sim

import (
	"encoding/binary"
	"slices"

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
	greeted   bool   // the client has asked for a session
	session   int64  // that it asked for; 0 for a new one

	withheld []int32   // the numbers of requests whose replies wait; see pauses
	arrived  []arrival // what waits, in order
}

// arrival is a message that reaches the client, or the end of the connection.
type arrival struct {
	bytes []byte
	err   error
}

// withheld is the reply to a request on a connection that the client's own code has dialed. The
// World does not know which goroutine waits for it. So all that follows on the connection waits for
// the reply, but for replies to pings: the session lives on, as in any other pause.
type withheld struct {
	link *link
	xid  int32
}

// Release lets the reply reach the client.
func (w withheld) Release() {
	c := &w.link.ownConn
	c.withheld = slices.DeleteFunc(c.withheld, func(xid int32) bool { return xid == w.xid })
	w.link.goOn()
}

// keeps reports whether an arrival is a reply that is withheld. Half a reply is not.
func (c *ownConn) keeps(a arrival) bool {
	if len(a.bytes) < 8 || int(binary.BigEndian.Uint32(a.bytes))+4 != len(a.bytes) {
		return false
	}
	return slices.Contains(c.withheld, int32(binary.BigEndian.Uint32(a.bytes[4:])))
}

// waits reports whether an arrival has to wait.
func (l *link) waits(a arrival) bool {
	c := &l.ownConn
	switch {
	case len(c.arrived) == 0 && !c.keeps(a):
		return false
	case len(c.arrived) > 0 && c.keeps(c.arrived[0]) && isPingReply(a.bytes):
		return false
	}
	c.arrived = append(c.arrived, a)
	return true
}

// goOn lets the client have what has waited, one after the other.
func (l *link) goOn() {
	c := &l.ownConn
	if len(c.arrived) == 0 || c.keeps(c.arrived[0]) {
		return
	}
	a := c.arrived[0]
	c.arrived = c.arrived[1:]
	l.reach(a)
	if len(c.arrived) > 0 {
		l.net.agenda.Schedule(l.net.agenda.Now()+1, l.goOn)
	}
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
		n := trace.Notice{Client: l.process.name, Kind: kind}
		if kind == trace.SessionExpired {
			n.Session = l.ownConn.session
		}
		l.net.record.Notice(n, "is told: %s", kind)
	}
}

// noteRequest notes a request of the client. The first one asks for a session.
func (c *ownConn) noteRequest(frame []byte) {
	if !c.greeted {
		c.greeted = true
		r, _ := wire.DecodeConnectRequest(frame)
		c.session = r.SessionID
		return
	}
	if h, _, err := wire.DecodeHeader(frame); err == nil && h.Op == proto.OpCloseSession {
		c.closing = true
	}
}
