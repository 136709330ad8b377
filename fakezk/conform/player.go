package conform

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A player plays one script on one server. Its outcomes are texts that are equal for two
// servers with the same behaviour.
type player struct {
	target   Target
	sessions map[string]*session
	view     view
}

// A session is a client's session, with its present connection.
type session struct {
	name     string
	link     *link // nil without a connection
	xid      int32
	id       int64
	password []byte
	ended    bool // closed by the client
}

func newPlayer(t Target, v view) *player {
	return &player{target: t, sessions: map[string]*session{}, view: v}
}

// An outcome is the result of one step, as lines of text.
type outcome []string

const notConnected = "not connected"

// didNothing reports whether the step did nothing, as there was no connection.
func (o outcome) didNothing() bool { return len(o) == 1 && o[0] == notConnected }

// play carries out a step. The error is one of this process or of ctx; errors of the
// server are outcomes.
func (p *player) play(ctx context.Context, s step) (outcome, error) {
	client := p.sessions[s.session]
	if client == nil {
		client = &session{name: s.session}
		p.sessions[s.session] = client
		if s.kind <= stepExpire && s.kind != stepConnect {
			seen, err := p.connect(ctx, client,
				proto.ConnectRequest{TimeoutMs: defaultTimeoutMs, HasReadOnly: true})
			if err != nil || s.kind == stepAttach {
				return seen, err
			}
			rest, err := p.play(ctx, s)
			return append(seen, rest...), err
		}
	}
	switch s.kind {
	case stepConnect:
		return p.connect(ctx, p.replace(client), p.connectRequest(s.connect, 0, nil))
	case stepAttach:
		return p.attach(ctx, client, s.connect)
	case stepFirst:
		return p.first(ctx, p.replace(client), s.bytes)
	}
	if client.link == nil {
		return outcome{notConnected}, nil
	}
	switch s.kind {
	case stepDrop:
		return p.drop(ctx, client)
	case stepAwait:
		return p.await(ctx, client, s.frames)
	case stepExpire:
		return p.readUntilClosed(ctx, client, nil)
	case stepBytes:
		client.link.write(s.bytes)
		return p.readUntilClosed(ctx, client, nil)
	case stepPartial:
		client.link.write(s.bytes)
		return nil, nil
	}
	return p.send(ctx, client, s.requests)
}

// replace returns a new session with c's name. If c has not ended, it gets another name
// and is closed at the end of the script.
func (p *player) replace(c *session) *session {
	c.leave()
	if c.id == 0 || c.ended {
		return c
	}
	for name := c.name + "'"; ; name += "'" {
		if p.sessions[name] == nil {
			p.sessions[name] = c
			p.sessions[c.name] = &session{name: c.name}
			return p.sessions[c.name]
		}
	}
}

// leave closes the connection, if there is one.
func (c *session) leave() {
	if c.link != nil {
		c.link.close()
		c.link = nil
	}
}

// markerXid is the xid of every answer to a ping. A ping follows the requests of every
// step; its answer shows that all other answers have come.
const markerXid = -2

var ping = wire.AppendRequest(nil, markerXid, &proto.Simple{Code: proto.OpPing})

// send sends requests and a ping in one write and reads frames up to the answer to the ping.
func (p *player) send(ctx context.Context, c *session, requests []request) (outcome, error) {
	var out []byte
	markers := 1
	var pending []sent
	for _, r := range requests {
		x := c.number(r)
		out = p.appendRequest(out, r, x.xid)
		if x.op == proto.OpPing {
			x.xid = markerXid
			markers++
		}
		pending = append(pending, x)
	}
	last := proto.OpPing
	if len(pending) > 0 {
		last = pending[len(pending)-1].op
	}
	if !mayClose(last) {
		c.link.write(append(out, ping...))
		return p.collect(ctx, c, pending, markers)
	}
	c.link.write(out)
	seen, err := p.readUntilClosed(ctx, c, pending)
	c.ended = c.ended || c.link == nil && last == proto.OpCloseSession
	return seen, err
}

// mayClose reports whether the server may close the connection after an operation. Then
// no ping follows, as it would depend on chance whether the server answers it.
func mayClose(op proto.OpCode) bool {
	switch op {
	case proto.OpCloseSession, proto.OpAuth, proto.OpNotification, proto.OpError:
		return true
	}
	return !proto.IsOp(op.String())
}

// number returns the xid and the operation with which a request is sent.
func (c *session) number(r request) sent {
	switch {
	case len(r.payload) >= 8:
		xid, op := binary.BigEndian.Uint32(r.payload), binary.BigEndian.Uint32(r.payload[4:])
		return sent{int32(xid), proto.OpCode(op)}
	case r.hasXid:
		return sent{r.xid, r.op}
	}
	c.xid++
	return sent{c.xid, r.op}
}

func (p *player) appendRequest(dst []byte, r request, xid int32) []byte {
	switch {
	case r.payload != nil:
		return append(binary.BigEndian.AppendUint32(dst, uint32(len(r.payload))), r.payload...)
	case r.req == nil:
		dst = binary.BigEndian.AppendUint32(dst, uint32(8+len(r.body)))
		dst = binary.BigEndian.AppendUint32(dst, uint32(xid))
		dst = binary.BigEndian.AppendUint32(dst, uint32(r.op))
		return append(dst, r.body...)
	case r.sinceStart:
		w := *r.req.(*proto.SetWatches)
		w.RelativeZxid += p.view.start
		return wire.AppendRequest(dst, xid, &w)
	}
	return wire.AppendRequest(dst, xid, r.req)
}

// collect reads frames up to a number of answers to pings.
func (p *player) collect(
	ctx context.Context, c *session, pending []sent, markers int,
) (outcome, error) {
	var seen outcome
	for markers > 0 {
		frame, status := c.link.next(ctx)
		if status != arrived {
			return p.lost(ctx, c, seen, status)
		}
		line, xid := p.view.frame(frame, &pending)
		seen = append(seen, line)
		if xid == markerXid {
			markers--
		}
	}
	return seen, nil
}

// lost closes a connection after its last frame. reason is the result of the last wait; it
// ends the outcome.
func (p *player) lost(
	ctx context.Context, c *session, seen outcome, reason arrival,
) (outcome, error) {
	line := ""
	switch reason {
	case silent:
		line = "no answer within " + c.link.patience.String()
	case ended:
		line = c.link.ending()
	}
	c.leave()
	if reason == canceled {
		return nil, context.Cause(ctx)
	}
	return append(seen, line), nil
}

// await reads n frames without sending a request.
func (p *player) await(ctx context.Context, c *session, n int) (outcome, error) {
	var seen outcome
	for range n {
		frame, status := c.link.next(ctx)
		if status != arrived {
			return p.lost(ctx, c, seen, status)
		}
		line, _ := p.view.frame(frame, &[]sent{})
		seen = append(seen, line)
	}
	return seen, nil
}

// readUntilClosed reads frames until the server closes the connection. If the answers show that it
// does not, a ping follows, and readUntilClosed reads up to its answer. An auth may overtake the
// requests before it; its answer is put last.
func (p *player) readUntilClosed(ctx context.Context, c *session, pending []sent) (outcome, error) {
	var seen, early outcome
	asked := len(pending) > 0
	for {
		frame, status := c.link.next(ctx)
		if status != arrived {
			return p.lost(ctx, c, append(seen, early...), status)
		}
		closing := len(pending) > 0 && pending[0].op == proto.OpCloseSession
		overtaking := len(pending) > 1 && answersAuth(frame, pending)
		line, _ := p.view.frame(frame, &pending)
		if overtaking {
			early = append(early, line)
			continue
		}
		seen = append(seen, line)
		if len(pending) == 0 {
			seen, early = append(seen, early...), nil
		}
		if asked && len(pending) == 0 && !closing && !endsConnection(frame) {
			c.link.write(ping)
			rest, err := p.collect(ctx, c, nil, 1)
			return append(seen, rest...), err
		}
	}
}

// answersAuth reports whether a frame answers an auth.
func answersAuth(frame []byte, pending []sent) bool {
	h, _, err := wire.DecodeReplyHeader(frame)
	i := slices.IndexFunc(pending, func(s sent) bool { return s.xid == h.Xid })
	return err == nil && i >= 0 && pending[i].op == proto.OpAuth
}

// endsConnection reports whether a server closes the connection after a reply.
func endsConnection(frame []byte) bool {
	h, _, err := wire.DecodeReplyHeader(frame)
	return err == nil && (h.Err == proto.AuthFailed || h.Err == proto.Unimplemented && h.Zxid == -1)
}

// flush returns the outstanding frames of a session.
func (p *player) flush(ctx context.Context, c *session) (outcome, error) {
	return p.send(ctx, c, nil)
}
