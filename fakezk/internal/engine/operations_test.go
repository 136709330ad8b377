package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// unnamed are the operations that the four-letter words show as NA, or not by a name alone.
var unnamed = []proto.OpCode{proto.OpCloseSession, proto.OpReconfig, proto.OpDeleteContainer,
	proto.OpAuth, proto.OpSasl}

// TestEveryOperationIsAnswered: a request that wire decodes has a case in read.go, or in step of
// package state, and a name in the four-letter words.
func TestEveryOperationIsAnswered(t *testing.T) {
	for op := proto.OpCode(-20); op < 200; op++ {
		req, err := wire.DecodeRequest(op, make([]byte, 100))
		if err != nil {
			continue // unknown, or a multi, which needs an operation
		}
		t.Run(op.String(), func(t *testing.T) {
			b := newBench(t, nil)
			b.ask(b.connect(4*time.Second), req) // panics if there is no case
		})
		if _, ok := abbreviations[op]; !ok && !slices.Contains(unnamed, op) {
			t.Errorf("%s has no abbreviation in stats.go", op)
		}
	}
}

// TestARefusedRequestHasNoEffect but its reply, which has the zxid of the server, and a longer life
// of its session.
func TestARefusedRequestHasNoEffect(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(4 * time.Second)
	b.must(id, &proto.Create{Code: proto.OpCreate, Path: "/a",
		ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}})
	zxid := b.e.Store().LastZxid()
	refuse := func(req proto.Request) {
		t.Helper()
		frame := wire.AppendRequest(nil, 7, req)[4:]
		r := b.take(b.e.Refuse(id, frame, proto.NoAuth, b.now))
		check.Equal(t, len(r.Applied), 0, "transactions")
		check.Equal(t, len(r.Out), 1, "outputs")
		h, body, err := wire.DecodeReplyHeader(r.Out[0].Frame[4:])
		check.OK(t, err)
		check.Equal(t, h, proto.ReplyHeader{Xid: 7, Zxid: zxid, Err: proto.NoAuth}, "%s", req.Op())
		check.Equal(t, len(body), 0, "bytes behind the header")
	}
	refuse(&proto.GetData{Path: "/a", Watch: true})
	refuse(&proto.Multi{Ops: []proto.Request{remove("/a")}})
	b.wait(3 * time.Second)
	refuse(remove("/a"))
	b.wait(3 * time.Second)
	refuse(&proto.Simple{Code: proto.OpCloseSession})
	b.must(id, remove("/a"))
	b.wantOutputs("") // no event, and no end of the session
}
