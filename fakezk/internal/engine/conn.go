package engine

import (
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/digestmd5"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A conn is an open transport connection.
type conn struct {
	id          ConnID
	at          *replica // the server of the connection
	among       *connections
	ip          string
	session     *session            // nil before the handshake
	closes      bool                // the client closes the session
	gone        bool                // the connection is over; some of its watches may be left
	hasReadOnly bool                // the connect request had a readOnly byte
	sasl        *digestmd5.Exchange // nil before the first token, and without users
	ids         state.Identities    // the address included
	opened      int64               // ms
	// The modes of the watches by path, kept by watchTable; nil before the first.
	dataWatches, childWatches map[string]WatchMode

	queued int64 // requests without a reply
	stats  connStats
}

// sessionID returns 0 before the handshake, and for a nil connection.
func (c *conn) sessionID() int64 {
	if c == nil || c.session == nil {
		return 0
	}
	return c.session.id
}

func (c *conn) caller() state.Caller {
	return state.Caller{Session: c.sessionID(), IDs: c.ids.List()}
}

func (c *conn) notify(t proto.EventType, path string) {
	start := len(c.among.buf)
	ev := proto.WatcherEvent{Type: t, State: syncConnected, Path: path}
	c.among.buf = wire.AppendEvent(c.among.buf, ev)
	c.send(start, &ev)
}

const syncConnected = 3

// withoutCounts is a reply with hidden counts; see [Config].
func withoutCounts(body proto.Reply) proto.Reply {
	switch r := body.(type) {
	case proto.StatReply:
		return proto.StatReply{Stat: hideCounts(r.Stat)}
	case proto.DataReply:
		return proto.DataReply{Data: r.Data, Stat: hideCounts(r.Stat)}
	case proto.ACLReply:
		return proto.ACLReply{ACL: r.ACL, Stat: hideCounts(r.Stat)}
	case proto.MultiReply:
		results := slices.Clone(r.Results)
		for i := range results {
			results[i].Reply = withoutCounts(results[i].Reply)
		}
		return proto.MultiReply{Results: results}
	}
	return body
}

func hideCounts(s proto.Stat) proto.Stat {
	s.Cversion, s.NumChildren, s.Pzxid = -1, -1, -1
	return s
}

func (c *conn) reply(r *Request) {
	start := len(c.among.buf)
	h := proto.ReplyHeader{Xid: r.Header.Xid, Zxid: r.Zxid, Err: r.Err}
	body := r.Reply
	if c.among.hideCounts {
		body = withoutCounts(body)
	}
	c.among.buf = wire.AppendReply(c.among.buf, h, body)
	c.countReply(h.Xid)
	c.send(start, nil)
}

// sendConnectResponse sends a ConnectResponse, all zeros to a connection without a session.
func (c *conn) sendConnectResponse() {
	resp := proto.ConnectResponse{HasReadOnly: c.hasReadOnly}
	var password [16]byte
	if s := c.session; s != nil {
		password = passwordOf(s.id)
		resp.TimeoutMs, resp.SessionID = int32(s.timeoutMs), s.id
	}
	resp.Password = password[:]
	start := len(c.among.buf)
	c.among.buf = wire.AppendConnectResponse(c.among.buf, resp)
	c.send(start, nil)
}

// send outputs the frame that begins at start in the outbox.
func (c *conn) send(start int, ev *proto.WatcherEvent) {
	all := c.among
	all.stats.Sent++
	c.stats.Sent++
	frame := all.buf[start:len(all.buf):len(all.buf)]
	all.out = append(all.out, Output{Conn: c.id, Frame: frame, Event: ev})
}

// hangUp closes the connection from the server's side, after the frames sent before.
func (c *conn) hangUp() {
	c.among.out = append(c.among.out, Output{Conn: c.id, Close: true})
	c.among.drop(c.id)
}

// connections are the open connections of all servers, and what the call under way sends on them.
type connections struct {
	open        map[ConnID]*conn
	sessionless expiryQueue[ConnID] // those without a handshake
	stats       Stats
	hideCounts  bool // see Config
	outbox
}

// An outbox has the frames and closes of the call under way. The next call reuses the slices.
type outbox struct {
	out []Output
	buf []byte // backs the frames
}

// keptBuffer is the capacity up to which a buffer is kept for the next call.
const keptBuffer = 1 << 20

func (o *outbox) clear() {
	if cap(o.buf) > keptBuffer {
		marks.Hit("buffer too large to keep")
		*o = outbox{}
	}
	o.out, o.buf = o.out[:0], o.buf[:0]
}

func newConnections(hideCounts bool) connections {
	return connections{open: map[ConnID]*conn{}, sessionless: newExpiryQueue[ConnID](),
		hideCounts: hideCounts}
}

func (cs *connections) add(id ConnID, at *replica, ip string, now int64) {
	c := &conn{id: id, at: at, among: cs, ip: ip, opened: now}
	c.ids.Add(proto.ID{Scheme: "ip", ID: ip})
	cs.open[id] = c
	cs.sessionless.add(id, sessionlessDeadline(now))
}

// attach gives a session to a connection.
func (cs *connections) attach(c *conn, s *session) {
	cs.sessionless.remove(c.id, sessionlessDeadline(c.opened))
	s.conn, s.owner, c.session = c, c.id, s
}

// drop removes a connection and its watches. Its session lives on.
func (cs *connections) drop(id ConnID) {
	c := cs.open[id]
	if c == nil {
		return
	}
	delete(cs.open, id)
	if c.session == nil {
		cs.sessionless.remove(id, sessionlessDeadline(c.opened))
	} else {
		c.session.left(c)
	}
	c.at.watches.drop(c)
}

// hangUpAll closes all connections, in order of id, but for those to servers that are apart.
func (cs *connections) hangUpAll() {
	for _, id := range slices.Sorted(maps.Keys(cs.open)) {
		if c := cs.open[id]; !c.at.isApart() {
			c.hangUp()
		}
	}
}

// hangUpSessionless closes the connections that have had no handshake in time.
func (cs *connections) hangUpSessionless(now int64) {
	for ids := cs.sessionless.due(now); len(ids) > 0; ids = cs.sessionless.due(now) {
		for _, id := range ids {
			cs.open[id].hangUp()
		}
	}
}

// hangUpSession closes the connections of a session that has ended, but for the one on which the
// client has closed it.
func (cs *connections) hangUpSession(at *replica, session int64) {
	var ended []*conn
	for _, c := range cs.open {
		if c.at == at && c.sessionID() == session && !c.closes {
			ended = append(ended, c)
		}
	}
	for _, c := range sortUnique(ended) {
		marks.Hit("follower ends a connection")
		c.hangUp()
	}
}

// sessionlessMs is the length of the buckets in which connections without a handshake
// expire. They are closed after 10 to 20 seconds, as by the real server.
const sessionlessMs = 10_000

func sessionlessDeadline(openedMs int64) int64 {
	return (openedMs+sessionlessMs)/sessionlessMs*sessionlessMs + sessionlessMs
}
