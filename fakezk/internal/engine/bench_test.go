package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// BenchmarkHandle measures one request, from its frame to the frames that it causes.
// Decoding takes an allocation for the request and one for each string and buffer in
// it; the other allocations are the engine's and the store's.
func BenchmarkHandle(b *testing.B) {
	acl := []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	create := func(path string, flags int32) proto.Request {
		return &proto.Create{
			Code: proto.OpCreate, Path: path, Data: []byte("data"), ACL: acl, Flags: flags,
		}
	}
	set := &proto.SetData{Path: "/node", Data: []byte("data"), Version: -1}
	for _, test := range []struct {
		name string
		req  proto.Request
	}{
		{"get", &proto.GetData{Path: "/node"}},
		{"exists", &proto.Exists{Path: "/node"}},
		{"set", set},
		{"create", create("/parent/n-", proto.FlagPersistentSequential)},
		{"children", &proto.GetChildren{Code: proto.OpGetChildren, Path: "/ten"}},
		{
			"multi", &proto.Multi{
				Ops: []proto.Request{&proto.Check{Path: "/node", Version: -1}, set},
			},
		},
		{"ping", &proto.Simple{Code: proto.OpPing}},
		{"watch", &proto.GetData{Path: "/node", Watch: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			e, now := benchEngine(b)
			ask := func(req proto.Request) Request {
				return e.Handle(1, wire.AppendRequest(nil, 1, req)[4:], now).Request
			}
			ask(create("/node", 0))
			ask(create("/parent", 0))
			ask(create("/ten", 0))
			for i := range 10 {
				ask(create(fmt.Sprintf("/ten/%d", i), 0))
			}
			frame := wire.AppendRequest(nil, 1, test.req)[4:]
			b.ReportAllocs()
			for b.Loop() {
				if r := e.Handle(1, frame, now).Request; r.Err != proto.OK {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// BenchmarkNextDeadline measures a call that the front makes after each request.
func BenchmarkNextDeadline(b *testing.B) {
	e, now := benchEngine(b)
	for id := range ConnID(10_000) {
		benchConnect(b, e, id+2, now.Add(time.Duration(id)*time.Millisecond))
	}
	b.ReportAllocs()
	for b.Loop() {
		if e.NextDeadline().IsZero() {
			b.Fatal("no deadline")
		}
	}
}

func benchEngine(b *testing.B) (*Engine, time.Time) {
	b.Helper()
	now := time.UnixMilli(1_700_000_000_000)
	e := New(Config{
		TickTime:          2 * time.Second,
		MinSessionTimeout: 4 * time.Second, MaxSessionTimeout: 40 * time.Second,
	}, now)
	benchConnect(b, e, 1, now)
	return e, now
}

func benchConnect(b *testing.B, e *Engine, id ConnID, now time.Time) {
	b.Helper()
	e.Open(id, 0, "127.0.0.1", now)
	hello := wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 10_000})[4:]
	if e.Handle(id, hello, now).Request.Session == 0 {
		b.Fatal("no session")
	}
}
