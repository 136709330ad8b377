package engine

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// conversation interprets fuzzed bytes as calls of an engine. It keeps the operation of
// the last request, so that it can decode the reply.
type conversation struct {
	t      *testing.T
	engine *Engine
	now    time.Time
	zxid   int64
	drawn  int64           // the last zxid of a transaction, skipped ones included
	open   map[ConnID]bool // true after the handshake
	next   ConnID
	asked  proto.OpCode // operation of the frame under way
}

const fuzzConns = 4

func newConversation(t *testing.T) *conversation {
	now := time.Unix(1_000_000_000, 0)
	return &conversation{
		t: t, now: now, open: map[ConnID]bool{},
		engine: New(Config{
			TickTime: time.Second, MinSessionTimeout: 2 * time.Second,
			MaxSessionTimeout:      20 * time.Second,
			ContainerCheckInterval: 3 * time.Second, SuperDigest: superDigest, EnforceQuota: true,
			SASLUsers: map[string]string{"u": "p"}, Digests: true,
			Nonce: func() string { return "n" },
		}, now),
	}
}

// run makes one call for each command in the input: a byte with the kind of call and
// the connection, and the arguments.
func (c *conversation) run(input []byte) {
	for range 200 {
		if len(input) == 0 {
			return
		}
		command := takeByte(&input)
		conn := c.conn(command >> 4)
		switch command & 15 {
		case 0:
			c.now = c.now.Add(time.Duration(takeByte(&input)) * 100 * time.Millisecond)
			c.check(c.engine.Tick(c.now))
			if next := c.engine.NextDeadline(); !next.IsZero() && !next.After(c.now) {
				c.t.Fatalf("after the tick at %s the next deadline is %s", c.now, next)
			}
		case 1:
			c.engine.Drop(conn)
			delete(c.open, conn)
		case 2:
			c.handle(conn, wire.AppendConnectRequest(nil, c.connectRequest(&input))[4:])
		case 3:
			r, _ := c.engine.Expire(c.session(takeByte(&input)), c.now)
			c.check(r)
		case 4:
			r, _ := c.engine.ExpireLate(c.session(takeByte(&input)), c.now.Add(time.Second))
			c.check(r)
		case 5:
			c.check(c.engine.Restart(c.now))
		case 6: // raw bytes
			c.handle(conn, take(&input, int(takeByte(&input))))
		case 8, 9, 10, 11:
			xid := int32(int8(takeByte(&input)))
			c.handle(conn, wire.AppendRequest(nil, xid, plausibleRequest(&input))[4:])
		default: // a header, then raw bytes for a body
			frame := []byte{0, 0, 0, takeByte(&input), 0, 0, 0, 0}
			binary.BigEndian.PutUint32(frame[4:], uint32(int8(takeByte(&input))))
			c.handle(conn, append(frame, take(&input, int(takeByte(&input)))...))
		}
	}
}

// conn returns the n-th connection and opens it if it is closed.
func (c *conversation) conn(n byte) ConnID {
	id := ConnID(n % fuzzConns)
	for live := range c.open {
		if live%fuzzConns == id {
			return live
		}
	}
	c.next += fuzzConns
	id += c.next
	c.open[id] = false
	c.engine.Open(id, 0, "127.0.0.1", c.now)
	return id
}

func (c *conversation) session(n byte) int64 {
	views := c.engine.Sessions()
	if len(views) == 0 {
		return int64(n)
	}
	return views[int(n)%len(views)].ID
}

func (c *conversation) connectRequest(input *[]byte) proto.ConnectRequest {
	how := takeByte(input)
	req := proto.ConnectRequest{TimeoutMs: int32(takeByte(input)) * 100, HasReadOnly: how&4 > 0}
	if how&1 > 0 {
		req.SessionID = c.session(how >> 4)
		password := passwordOf(req.SessionID)
		req.Password = password[:]
	}
	if how&2 > 0 {
		req.Password = take(input, 16)
	}
	if how&8 > 0 {
		req.LastZxidSeen = int64(takeByte(input))
	}
	return req
}

func (c *conversation) handle(id ConnID, frame []byte) {
	handshake := !c.open[id]
	if h, _, err := wire.DecodeHeader(frame); err == nil {
		c.asked = h.Op
	}
	r := c.engine.Handle(id, frame, c.now)
	if handshake != r.Request.Handshake {
		c.t.Fatalf("handshake is %v, the engine says %v", handshake, r.Request.Handshake)
	}
	if handshake && r.Request.Session != 0 {
		c.open[id] = true
	}
	c.checkOutputs(r, id, handshake)
}

func (c *conversation) check(r Reaction) { c.checkOutputs(r, -1, false) }

// checkOutputs decodes every output and checks the engine's invariants.
func (c *conversation) checkOutputs(r Reaction, asker ConnID, handshake bool) {
	for _, out := range r.Out {
		if _, open := c.open[out.Conn]; !open {
			c.t.Fatalf("output to connection %d, which is closed", out.Conn)
		}
		if out.Frame != nil {
			c.decode(out, asker, handshake)
		}
		if out.Close {
			delete(c.open, out.Conn)
		}
	}
	last := c.engine.Store().LastZxid()
	if last < c.zxid {
		c.t.Fatalf("zxid went back from %d to %d", c.zxid, last)
	}
	c.checkZxids(r)
	c.zxid = last
	c.checkTables()
}

// checkZxids checks that zxids have no gaps and that the store shows no later one.
func (c *conversation) checkZxids(r Reaction) {
	for _, a := range r.Applied {
		c.drawn++
		if a.Txn.Zxid != c.drawn {
			c.t.Fatalf("transaction %+v after zxid %d", a.Txn, c.drawn-1)
		}
		if len(a.Notified) != len(a.Result.Events) {
			c.t.Fatalf("%d events, %d lists of notified sessions", len(a.Result.Events),
				len(a.Notified))
		}
	}
	if last := c.engine.Store().LastZxid(); last > c.drawn {
		c.t.Fatalf("last zxid is %d after %d transactions", last, c.drawn)
	}
}

// checkTables checks that data kept in two places agrees.
func (c *conversation) checkTables() {
	modes := 0
	for _, conn := range c.engine.conns.open {
		modes += len(conn.dataWatches) + len(conn.childWatches)
		if s := conn.session; s != nil && (s.conn != conn || c.engine.sessions.byID[s.id] != s) {
			c.t.Fatalf("connection %d and session %+v do not refer to each other", conn.id, s)
		}
	}
	watches, recursive := c.engine.Watches(), 0
	for _, w := range watches {
		if w.Session == 0 {
			c.t.Fatalf("watch without a session: %+v", w)
		}
		if w.Mode == Recursive {
			recursive++
		}
	}
	tables := &c.engine.ensemble.leader.watches
	if len(watches) != modes || recursive != tables.recursive() {
		c.t.Fatalf("%d watches, %d of them recursive; %d modes, %+v",
			len(watches), recursive, modes, tables)
	}
	for _, s := range c.engine.sessions.byID {
		_, queued := c.engine.sessions.expiries.buckets[s.expiresAt][s.id]
		if !queued && s.expiresAt > c.now.UnixMilli() {
			c.t.Fatalf("the expiry queue lacks session %+v", s)
		}
	}
}

func (c *conversation) decode(out Output, asker ConnID, handshake bool) {
	payload := out.Frame[4:]
	if int(binary.BigEndian.Uint32(out.Frame)) != len(payload) {
		c.t.Fatalf("frame % x has a wrong length", out.Frame)
	}
	createsSession := c.asked == proto.OpCreateSession && !bytes.Equal(payload[12:], malformed)
	if out.Conn == asker && out.Event == nil && (handshake || createsSession) {
		if _, err := wire.DecodeConnectResponse(payload); err != nil {
			c.t.Fatalf("connect response % x: %v", payload, err)
		}
		return
	}
	h, body, err := wire.DecodeReplyHeader(payload)
	switch {
	case err != nil:
	case out.Event != nil:
		_, err = wire.DecodeEvent(body)
	case out.Conn != asker:
		c.t.Fatalf("reply %+v to connection %d, which has no request", h, out.Conn)
	case h.Err == proto.OK:
		_, err = wire.DecodeReply(c.asked, body)
	case len(body) > 0 && h.Err == proto.MarshallingError && isMulti(c.asked),
		h.Err == proto.AuthFailed && c.asked == proto.OpSasl:
		_, err = wire.DecodeReply(c.asked, body)
	case len(body) > 0:
		c.t.Fatalf("error reply %+v has a body: % x", h, body)
	}
	if err != nil {
		c.t.Fatalf("frame % x: %v", payload, err)
	}
	if h.Zxid > c.engine.Store().LastZxid() {
		c.t.Fatalf("reply %+v after zxid %d", h, c.engine.Store().LastZxid())
	}
}

func isMulti(op proto.OpCode) bool { return op == proto.OpMulti || op == proto.OpMultiRead }

// malformed is the end of the header of a MarshallingError reply.
var malformed = []byte{0xff, 0xff, 0xff, 0xfb}

// FuzzEngine makes any sequence of calls: valid and malformed frames on several connections, with
// drops, expiries, restarts and time in between. The engine must not panic, must send only valid
// frames and only to open connections, and must count zxids without gaps.
func FuzzEngine(f *testing.F) {
	for _, seed := range seedConversations() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) { newConversation(t).run(input) })
}

const superDigest = "super:0bX78nEegDzJM3ju0iLBEJdWzjg="

// recursive is the number of recursive watches that the tables count.
func (w *watches) recursive() int {
	sum := 0
	for _, table := range []watchTable{w.data, w.child} {
		for _, n := range table.recursive {
			sum += n
		}
	}
	return sum
}
