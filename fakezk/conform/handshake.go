package conform

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// connectRequest returns a connect request with the peculiarities of c.
func (p *player) connectRequest(c connecting, id int64, password []byte) proto.ConnectRequest {
	req := proto.ConnectRequest{
		ProtocolVersion: c.version, LastZxidSeen: c.zxid, TimeoutMs: c.timeoutMs,
		SessionID: id, Password: password, HasReadOnly: !c.noReadOnly, ReadOnly: c.readOnly,
	}
	if c.zxidAhead {
		req.LastZxidSeen = math.MaxInt64 / 2
	}
	switch c.id {
	case "unknown":
		req.SessionID = 0x1234567
	case "negative":
		req.SessionID = -1
	}
	switch c.password {
	case "wrong":
		req.Password = bytes.Repeat([]byte{0x5a}, 16)
	case "short":
		req.Password = req.Password[:min(3, len(req.Password))]
	case "null":
		req.Password = nil
	case "zero":
		req.Password = make([]byte, 16)
	case "long":
		req.Password = append(bytes.Clone(req.Password), make([]byte, 24)...)
	}
	return req
}

// connect opens a connection for a session without one.
func (p *player) connect(
	ctx context.Context, c *session, req proto.ConnectRequest,
) (outcome, error) {
	return p.first(ctx, c, wire.AppendConnectRequest(nil, req))
}

// first opens a connection, sends its first bytes and reads the answer.
func (p *player) first(ctx context.Context, c *session, opening []byte) (outcome, error) {
	l, err := dial(ctx, p.target)
	if err != nil {
		return nil, err
	}
	c.link = l
	l.write(opening)
	frame, status := l.next(ctx)
	if status != arrived {
		return p.lost(ctx, c, nil, status)
	}
	resp, ok := connectResponse(frame)
	if !ok {
		return outcome{fmt.Sprintf("% x", frame)}, nil
	}
	seen := outcome{p.view.connected(c, resp)}
	if resp.SessionID == 0 {
		rest, err := p.readUntilClosed(ctx, c, nil)
		return append(seen, rest...), err
	}
	if resp.SessionID != c.id {
		c.id, c.password, c.xid, c.ended = resp.SessionID, resp.Password, 0, false
	}
	return seen, nil
}

// attach opens a second connection for a session, and reads the end of the first. If the
// server accepts the second, the session goes on there.
func (p *player) attach(ctx context.Context, c *session, with connecting) (outcome, error) {
	var seen outcome
	if c.link != nil { // so that no frame is outstanding
		var err error
		if seen, err = p.flush(ctx, c); err != nil {
			return nil, err
		}
	}
	old := c.link
	c.link = nil
	answer, err := p.connect(ctx, c, p.connectRequest(with, c.id, c.password))
	if c.link == nil && err == nil && with == (connecting{timeoutMs: with.timeoutMs}) {
		c.ended = true // an ordinary client is refused only if the session has ended
	}
	if err != nil || old == nil {
		return append(seen, answer...), err
	}
	seen = append(seen, answer...)
	current := c.link
	c.link = old
	rest, err := p.flush(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, line := range rest {
		seen = append(seen, "on the old connection: "+line)
	}
	if current != nil {
		c.leave()
		c.link = current
	}
	return seen, nil
}

// connectResponse decodes a frame as a ConnectResponse. It returns false if the frame is not one.
func connectResponse(frame []byte) (proto.ConnectResponse, bool) {
	resp, err := wire.DecodeConnectResponse(frame)
	if err != nil {
		return resp, false
	}
	again := wire.AppendConnectResponse(nil, resp)[4:]
	return resp, bytes.Equal(again, frame) && binary.BigEndian.Uint32(frame) == 0
}
