package realworld

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// expire ends a session at the server, as only its owner can: by a second connection
// that takes the session up and closes it. The client's connection is frozen, and
// closed when the session has ended.
func (p *proxy) expire(c *Client, session int64) {
	var frozen []*carry.Conn
	for _, conn := range p.net.Conns() {
		if l := p.links[conn.ID]; l.client == c && l.session == session &&
			conn.State() == carry.Open {
			conn.Freeze()
			frozen = append(frozen, conn)
		}
	}
	s := p.sessions[session]
	if s == nil {
		return
	}
	s.expired, s.over = time.Now(), true
	p.background.Go(func() {
		err := p.servers.endSession(p.ctx, session, s.password)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil && len(p.outages.down) == 0 { // a server that is down ends no session
			p.journal.fail(err)
		}
		for _, conn := range frozen {
			p.carryOut(conn.Reset(io.EOF))
		}
	})
}

// endSession ends a session at the first server that does it.
func (s *servers) endSession(ctx context.Context, session int64, password []byte) (err error) {
	for _, server := range s.list {
		err = s.endSessionAt(ctx, server.Address(), session, password)
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("end session %s: %w", tracetext.Session(session), err)
	}
	return nil
}

// endSessionAt takes a session up and closes it. One that is over already is fine.
func (s *servers) endSessionAt(
	ctx context.Context, address string, session int64, password []byte,
) error {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer closeQuietly(conn)
	defer context.AfterFunc(ctx, func() { closeQuietly(conn) })()
	answer, err := handshake(conn, proto.ConnectRequest{
		TimeoutMs: int32(s.timeout.Milliseconds()),
		SessionID: session, Password: password})
	if err == nil && answer.SessionID != 0 {
		err = endSessionOf(conn)
	}
	return cmp.Or(context.Cause(ctx), err)
}

// handshake makes the handshake of a connection past the proxy.
func handshake(
	conn net.Conn, hello proto.ConnectRequest,
) (answer proto.ConnectResponse, err error) {
	if _, err := conn.Write(wire.AppendConnectRequest(nil, hello)); err != nil {
		return answer, err
	}
	packet, err := wire.ReadPacket(conn, wire.DefaultMaxFrame)
	if err != nil {
		return answer, err
	}
	return wire.DecodeConnectResponse(packet[4:])
}

// endSessionOf closes the session of a connection, and reads to its end.
func endSessionOf(conn net.Conn) error {
	_, err := conn.Write(wire.AppendRequest(nil, closingXid,
		&proto.Simple{Code: proto.OpCloseSession}))
	// Before its end come notifications and the reply.
	for err == nil {
		_, err = wire.ReadPacket(conn, wire.DefaultMaxFrame)
	}
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return nil
}

// closingXid is the xid of the request that ends a session for a fault. No client comes so far.
const closingXid = 1<<31 - 1

// serverPatience is how long, in real time, a server may take to answer the proxy.
const serverPatience = 10 * time.Second
