package fakezk

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// crowded are options for many clients that never ping in a test that may take a while.
var crowded = Options{MaxClientConns: -1, MaxSessionTimeout: 10 * time.Minute}

// openSessions opens n sessions.
func openSessions(t *testing.T, address string, n int) (clients []*rawClient) {
	t.Helper()
	for range n {
		r := dialTCP(t, address)
		r.handshake(proto.ConnectRequest{TimeoutMs: 600_000})
		clients = append(clients, r)
	}
	return clients
}

func TestTwoThousandSessions(t *testing.T) {
	const n = 2000
	s, address := startTCP(t, crowded)
	clients := openSessions(t, address, n)
	check.Equal(t, len(s.Sessions()), n, "sessions")
	for _, r := range clients {
		r.send(wire.AppendRequest(nil, 1, &proto.Exists{Path: "/"}))
	}
	for _, r := range clients {
		r.wantReply(1)
	}
	for _, r := range clients {
		r.send(wire.AppendRequest(nil, 2, &proto.Simple{Code: proto.OpCloseSession}))
	}
	for _, r := range clients {
		r.wantReply(2)
		r.wantClosed()
	}
	if got := len(s.Sessions()); got > 0 {
		t.Errorf("%d sessions after all closed theirs", got)
	}
}

func TestThousandWatchersAreAllNotified(t *testing.T) {
	const n = 1000
	s, address := startTCP(t, crowded)
	mustDo(t, s.Put("/watched", nil))
	clients := openSessions(t, address, n)
	for _, r := range clients {
		r.mustCall(&proto.GetData{Path: "/watched", Watch: true})
	}
	clients[0].send(wire.AppendRequest(nil, 9,
		&proto.SetData{Path: "/watched", Data: []byte("x"), Version: -1}))
	for i, r := range clients {
		h, body := r.reply()
		if ev, err := wire.DecodeEvent(body); h.Xid != -1 || err != nil ||
			ev.Type != proto.EventDataChanged || ev.Path != "/watched" {
			t.Fatalf("client %d: %+v %+v", i, h, ev)
		}
	}
	clients[0].wantReply(9)
}

func TestParentOfManyChildren(t *testing.T) {
	const n = manyChildren
	_, address := startTCP(t)
	r, _ := tcpSession(t, address)
	r.mustCall(rawCreate("/parent", 0))
	go func() {
		var batch []byte
		for i := range n {
			batch = wire.AppendRequest(
				batch, int32(i), rawCreate(fmt.Sprintf("/parent/child-%06d", i), 0),
			)
			if len(batch) > 60_000 || i == n-1 {
				if _, err := r.Write(batch); err != nil {
					t.Error(err)
				}
				batch = batch[:0]
			}
		}
	}()
	for i := range n {
		r.wantReply(int32(i))
	}
	for range 3 {
		r.send(
			wire.AppendRequest(nil, 1, &proto.GetChildren{
				Code: proto.OpGetChildren, Path: "/parent",
			}),
		)
		_, body := r.reply()
		reply, err := wire.DecodeReply(proto.OpGetChildren, body)
		check.OK(t, err)
		names := reply.(proto.ChildrenReply).Names
		slices.Sort(names)
		if len(names) != n || names[0] != "child-000000" ||
			names[n-1] != fmt.Sprintf("child-%06d", n-1) || len(slices.Compact(names)) != n {
			t.Fatalf("%d names", len(names))
		}
	}
}
