package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// FuzzDecode feeds the same bytes to every decoder. None may panic, and a request that
// can be decoded must be equal after another round trip.
func FuzzDecode(f *testing.F) {
	acl := []proto.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}
	for _, req := range []proto.Request{
		&proto.Create{
			Code: proto.OpCreateTTL, Path: "/a", Data: []byte("x"), ACL: acl, Flags: 5, TTL: 1,
		},
		&proto.SetWatches{
			Code: proto.OpSetWatches, RelativeZxid: 1,
			DataWatches: []string{"/a"}, ChildWatches: []string{"/b", "/c"},
		},
		&proto.SetWatches{
			Code:              proto.OpSetWatches2,
			PersistentWatches: []string{"/a"}, RecursiveWatches: []string{proto.NullPath},
		},
		&proto.AddWatch{Path: "/a", Mode: 1},
		&proto.MultiRead{Ops: []proto.Request{
			&proto.GetData{Path: "/a"},
			&proto.GetChildren{Code: proto.OpGetChildren, Path: "/"},
		}},
		&proto.Multi{Ops: []proto.Request{
			&proto.Create{Code: proto.OpCreate, Path: "/a", ACL: acl},
			&proto.SetData{Path: "/a", Version: -1},
			&proto.Delete{Path: "/a", Version: -1},
		}},
	} {
		f.Add(int32(req.Op()), AppendRequest(nil, 1, req)[12:])
	}
	results := proto.MultiReply{Results: []proto.OpResult{
		{Op: proto.OpCreate2, Reply: proto.PathStatReply{Path: "/a"}},
		{Op: proto.OpError, Err: -2},
	}}
	f.Add(int32(proto.OpMulti), AppendReply(nil, proto.ReplyHeader{}, results)[20:])
	f.Add(int32(0), AppendConnectRequest(nil, proto.ConnectRequest{HasReadOnly: true})[4:])
	f.Add(int32(proto.OpGetChildren2), []byte("\x7f\xff\xff\xff"))

	f.Fuzz(func(t *testing.T, opcode int32, frame []byte) {
		decodeFrames(frame)
		for _, op := range implementedOps() {
			checkRequest(t, op, frame)
			checkReply(t, op, frame)
		}
		checkRequest(t, proto.OpCode(opcode), frame)
	})
}

// implementedOps lists the operations that DecodeRequest implements.
func implementedOps() []proto.OpCode {
	var ops []proto.OpCode
	for op := proto.OpCode(-20); op < 200; op++ {
		if _, err := DecodeRequest(op, nil); !errors.Is(err, ErrUnknownOp) {
			ops = append(ops, op)
		}
	}
	return ops
}

// decodeFrames looks for panics only.
func decodeFrames(frame []byte) {
	if c, err := DecodeConnectRequest(frame); err == nil {
		AppendConnectRequest(nil, c)
	}
	if c, err := DecodeConnectResponse(frame); err == nil {
		AppendConnectResponse(nil, c)
	}
	if _, body, err := DecodeReplyHeader(frame); err == nil {
		if ev, err := DecodeEvent(body); err == nil {
			AppendEvent(nil, ev)
		}
	}
}

func checkRequest(t *testing.T, op proto.OpCode, body []byte) {
	req, err := DecodeRequest(op, body)
	if err != nil {
		return
	}
	_, again, err := DecodeHeader(AppendRequest(nil, 0, req)[4:])
	check.OK(t, err)
	second, err := DecodeRequest(op, again)
	if diff := cmp.Diff(req, second); diff != "" || err != nil {
		t.Fatalf("%s: %v\n%s", op, err, diff)
	}
}

func checkReply(t *testing.T, op proto.OpCode, body []byte) {
	reply, err := DecodeReply(op, body)
	if err != nil {
		return
	}
	_, again, err := DecodeReplyHeader(AppendReply(nil, proto.ReplyHeader{}, reply)[4:])
	check.OK(t, err)
	if _, err := DecodeReply(op, again); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}
