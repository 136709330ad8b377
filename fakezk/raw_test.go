package fakezk

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"

	"pgregory.net/rapid"
)

// mustDo reports an error. It may be called from any goroutine.
func mustDo(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// rawClient is a client that sends given bytes, and never pings.
type rawClient struct {
	net.Conn
	t   testing.TB
	xid int32
}

// rawDial connects in memory.
func rawDial(t testing.TB, s *Server) *rawClient {
	t.Helper()
	conn, err := s.dial()
	check.OK(t, err)
	r := &rawClient{Conn: conn, t: t}
	t.Cleanup(func() { _ = conn.Close() }) // closing twice is fine
	return r
}

// rawSession connects in memory and gets a session.
func rawSession(t testing.TB, s *Server, timeout time.Duration) (*rawClient,
	proto.ConnectResponse) {
	t.Helper()
	r := rawDial(t, s)
	resp := r.handshake(proto.ConnectRequest{TimeoutMs: int32(timeout.Milliseconds())})
	if resp.SessionID == 0 {
		t.Fatalf("no session: %+v", resp)
	}
	return r, resp
}

func (r *rawClient) send(p []byte) {
	r.t.Helper()
	if _, err := r.Write(p); err != nil {
		r.t.Fatal(err)
	}
}

// sendFrame sends a payload with its length.
func (r *rawClient) sendFrame(payload []byte) {
	r.t.Helper()
	r.send(append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...))
}

// receive returns the next frame's payload, or nil if the server closed the connection.
func (r *rawClient) receive() []byte {
	r.t.Helper()
	packet, err := wire.ReadPacket(r, wire.MaxFrameLimit)
	if err == io.EOF {
		return nil
	}
	check.OK(r.t, err)
	return packet[4:]
}

func (r *rawClient) wantClosed() {
	r.t.Helper()
	if payload := r.receive(); payload != nil {
		r.t.Fatalf("got % x, want the end of the connection", payload)
	}
}

func (r *rawClient) handshake(req proto.ConnectRequest) proto.ConnectResponse {
	r.t.Helper()
	r.sendHandshake(req)
	resp, err := wire.DecodeConnectResponse(r.receive())
	check.OK(r.t, err)
	return resp
}

// reply returns the next reply's header and body.
func (r *rawClient) reply() (proto.ReplyHeader, []byte) {
	r.t.Helper()
	payload := r.receive()
	if payload == nil {
		r.t.Fatal("the connection ended, want a reply")
	}
	h, body, err := wire.DecodeReplyHeader(payload)
	check.OK(r.t, err)
	return h, body
}

// wantReply reads the reply to a request that succeeds.
func (r *rawClient) wantReply(xid int32) {
	r.t.Helper()
	if h, _ := r.reply(); h.Xid != xid || h.Err != proto.OK {
		r.t.Fatalf("reply %+v, want that to %d", h, xid)
	}
}

// call sends a request and returns the reply's header.
func (r *rawClient) call(req proto.Request) proto.ReplyHeader {
	r.t.Helper()
	r.xid++
	r.send(wire.AppendRequest(nil, r.xid, req))
	h, _ := r.reply()
	return h
}

func (r *rawClient) mustCall(req proto.Request) proto.ReplyHeader {
	r.t.Helper()
	h := r.call(req)
	if h.Err != proto.OK {
		r.t.Fatalf("%s: %s", req.Op(), h.Err)
	}
	return h
}

var worldAll = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}

func rawCreate(path string, flags int32) *proto.Create {
	return &proto.Create{
		Code: proto.OpCreate, Path: path, Flags: flags, ACL: worldAll, Data: []byte{},
	}
}

var ping = &proto.Simple{Code: proto.OpPing}

func (r *rawClient) sendHandshake(req proto.ConnectRequest) {
	r.t.Helper()
	r.send(wire.AppendConnectRequest(nil, req))
}

// dial connects without a name.
func (s *Server) dial() (net.Conn, error) { return s.front.dial("", Address, 0) }
