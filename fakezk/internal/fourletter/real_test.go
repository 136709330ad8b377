package fourletter_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// real is a real ZooKeeper and raw connections to it.
type real struct {
	t       *testing.T
	address string
	conns   map[string]net.Conn
	ids     map[string]int64
}

func newReal(t *testing.T) *real {
	t.Helper()
	server := realzk.Start(t, realzk.Options{
		TickTime:   2 * time.Second,
		Properties: map[string]string{"zookeeper.forceSync": "yes"}, // for fsynctime
	})
	return &real{
		t: t, address: server.Address(),
		conns: map[string]net.Conn{}, ids: map[string]int64{},
	}
}

func (r *real) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.address)
	check.OK(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	check.OK(r.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func (r *real) connect(name string, timeout time.Duration) {
	conn := r.dial()
	r.conns[name] = conn
	r.send(conn, wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: int32(timeout.Milliseconds()), Password: make([]byte, 16), HasReadOnly: true,
	}))
	resp, err := wire.DecodeConnectResponse(r.read(conn))
	check.OK(r.t, err)
	r.ids[name] = resp.SessionID
}

func (r *real) ask(name string, req proto.Request) {
	xid := int32(5)
	if req.Op() == proto.OpPing {
		xid = -2
	}
	r.send(r.conns[name], wire.AppendRequest(nil, xid, req))
	for {
		h, _, err := wire.DecodeReplyHeader(r.read(r.conns[name]))
		check.OK(r.t, err)
		if h.Xid == xid {
			return
		}
	}
}

func (r *real) word(word string) string {
	conn := r.dial()
	r.send(conn, []byte(word))
	text, err := io.ReadAll(conn)
	check.OK(r.t, err)
	return string(text)
}

func (r *real) send(conn net.Conn, p []byte) {
	if _, err := conn.Write(p); err != nil {
		r.t.Fatal(err)
	}
}

func (r *real) read(conn net.Conn) []byte {
	packet, err := wire.ReadPacket(conn, wire.MaxFrameLimit)
	check.OK(r.t, err)
	return packet[4:]
}

func (r *real) sessions() map[string]int64 { return r.ids }

func (r *real) addresses() map[string]string {
	addrs := map[string]string{}
	for name, conn := range r.conns {
		addrs[name] = conn.LocalAddr().String()
	}
	return addrs
}
