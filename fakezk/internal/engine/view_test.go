package engine

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// The abbreviations are from a real server's cons after the same requests.
func TestConnsShowTheLastOperation(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(10 * time.Second)
	b.must(id, create("/a", 0))
	b.e.ResetConnStats()
	for _, test := range []struct {
		name   string
		frame  []byte
		want   string
		queued int64
	}{
		{"nothing since the reset", nil, "NA", 0},
		{"exists", request(&proto.Exists{Path: "/"}), "EXIS", 0},
		{"create that fails", request(create("/a", 0)), "NA", 0},
		{"check that succeeds", request(&proto.Check{Path: "/a", Version: -1}), "CHEC", 1},
		{"check that fails", request(&proto.Check{Path: "/no", Version: -1}), "NA", 1},
		{"getData that fails", request(&proto.GetData{Path: "/no"}), "GETD", 1},
		{"multi that fails", request(&proto.Multi{Ops: []proto.Request{remove("/no")}}), "MULT", 1},
		{
			"multi with a null path",
			request(&proto.Multi{Ops: []proto.Request{remove(proto.NullPath)}}), "MULT", 1,
		},
		{"malformed reconfig", raw(proto.OpReconfig), "RECO", 1},
		{"reconfig", request(&proto.Reconfig{}), "NA", 1},
		{"deleteContainer", request(&proto.DeleteContainer{Path: "/a"}), "NA", 1},
		{"malformed exists", raw(proto.OpExists), "EXIS", 1},
		{"auth leaves it", request(&proto.Auth{Scheme: "ip"}), "EXIS", 1},
		{"malformed multi", raw(proto.OpMulti), "NA", 1},
		{
			"multi of reads",
			request(&proto.Multi{Ops: []proto.Request{&proto.GetData{Path: "/a"}}}), "NA", 1,
		},
		{"addWatch that fails", request(&proto.AddWatch{Path: "/a", Mode: 9}), "ADDW", 1},
		{"ping with an xid", request(ping), "PING", 2},
		{"createSession", request(&proto.CreateSession{TimeoutMs: 2000}), "SESS", 3},
		{"malformed createSession", raw(proto.OpCreateSession), "NA", 3},
	} {
		if test.frame != nil {
			b.e.Handle(id, test.frame, b.now)
		}
		if v := b.e.Conns()[0]; v.LastOp != test.want || v.Queued != test.queued {
			t.Errorf("%s: %q, %d queued; want %q, %d",
				test.name, v.LastOp, v.Queued, test.want, test.queued)
		}
	}
}

// A client library gives its own requests negative xids.
func TestLastCxidIsThatOfTheLastRealOperation(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(10 * time.Second)
	b.must(id, &proto.Exists{Path: "/"})
	b.e.Handle(id, wire.AppendRequest(nil, -8, &proto.GetData{Path: "/"})[4:], b.now)
	if v := b.e.Conns()[0]; v.LastCxid != 7 || v.LastOp != "GETD" || v.Queued != 0 {
		t.Errorf("%+v", v)
	}
}

func request(req proto.Request) []byte { return wire.AppendRequest(nil, 7, req)[4:] }

// raw returns a request with a body of a single byte.
func raw(op proto.OpCode) []byte {
	return append(wire.AppendRequest(nil, 7, &proto.Simple{Code: op})[4:], 0)
}

func TestConnsCountFramesAndShowTheLastReply(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(5 * time.Second)
	other := b.connect(20 * time.Second)
	b.e.Open(9, 0, "10.0.0.9", b.now)
	b.must(id, create("/a", 0), &proto.GetData{Path: "/a", Watch: true})
	b.must(other, &proto.SetData{Path: "/a", Version: -1})
	b.now = b.now.Add(time.Second)
	b.must(other, ping)
	sessions := b.e.Sessions()
	want := []ConnView{
		{
			ID: id, IP: "127.0.0.1", Session: sessions[0].ID,
			Timeout: 5 * time.Second, Opened: start, Received: 3, Sent: 4, EverWatched: true,
			LastOp: "GETD", LastCxid: 7, LastZxid: 3, LastResponse: start,
		},
		{
			ID: other, IP: "127.0.0.1", Session: sessions[1].ID,
			Timeout: 20 * time.Second, Opened: start, Received: 3, Sent: 3, Queued: 1,
			LastOp: "PING", LastCxid: 7, LastZxid: 4, LastResponse: start.Add(time.Second),
		},
		{ID: 9, IP: "10.0.0.9", Timeout: 10 * time.Second, Opened: start, LastOp: "null"},
	}
	check.Diff(t, b.e.Conns(), want)
	check.Equal(t, b.e.Stats(), Stats{Received: 6, Sent: 7}, "stats")
	b.e.ResetStats()
	b.e.ResetConnStats()
	check.Equal(t, b.e.Stats(), Stats{}, "stats after the reset")
	v := b.e.Conns()[1]
	v.ID, v.Session, v.Timeout = 0, 0, 0
	fresh := ConnView{
		IP: "127.0.0.1", Opened: start, Queued: 1,
		LastOp: "NA", LastCxid: -1, LastZxid: -1,
	}
	check.Diff(t, v, fresh, "after the reset")
}

func TestConnsOfAReattachedSession(t *testing.T) {
	b := newBench(t, nil)
	b.connect(10 * time.Second)
	s := b.e.Sessions()[0]
	password := passwordOf(s.ID)
	b.e.Open(5, 0, "127.0.0.1", b.now)
	hello := wire.AppendConnectRequest(nil, proto.ConnectRequest{
		SessionID: s.ID, Password: password[:], TimeoutMs: 4000,
	})
	b.e.Handle(5, hello[4:], b.now)
	want := []ConnView{{
		ID: 5, IP: "127.0.0.1", Session: s.ID, Timeout: 4 * time.Second, Opened: start,
		Received: 1, Sent: 1, LastOp: "null",
	}}
	check.Diff(t, b.e.Conns(), want)
	v := b.e.Sessions()[0]
	if v.ExpiresAt.Sub(start) != 5*time.Second || v.Conn != 5 {
		t.Errorf("session %+v", v)
	}
}
