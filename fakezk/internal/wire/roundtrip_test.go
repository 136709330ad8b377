package wire

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// payload checks the length prefix of a frame and returns the bytes after it.
func payload(t rapid.TB, frame []byte) []byte {
	t.Helper()
	if len(frame) < 4 || int(binary.BigEndian.Uint32(frame)) != len(frame)-4 {
		t.Fatalf("frame of %d bytes has the prefix % x", len(frame), frame[:min(4, len(frame))])
	}
	return frame[4:]
}

// TestEveryOperationIsDecoded: each that has a name, but for those that no client sends.
func TestEveryOperationIsDecoded(t *testing.T) {
	for op := proto.OpCode(-20); op < 200; op++ {
		_, err := DecodeRequest(op, nil)
		sent := op != proto.OpNotification && op != proto.OpError
		if named := proto.IsOp(op.String()); named && sent && errors.Is(err, ErrUnknownOp) {
			t.Errorf("%s has no case in request_decode.go", op)
		} else if !named && !errors.Is(err, ErrUnknownOp) {
			t.Errorf("%s is decoded, and has no name in code.go of proto", op)
		}
	}
}

func TestEveryOperationHasAReplyDecoder(t *testing.T) {
	for _, op := range implementedOps() {
		if _, err := DecodeReply(op, nil); errors.Is(err, ErrUnknownOp) {
			t.Errorf("%s has no case in reply_decode.go", op)
		}
	}
}

func TestRequestsSurviveTheRoundTrip(t *testing.T) {
	for _, op := range implementedOps() {
		t.Run(op.String(), rapid.MakeCheck(func(t *rapid.T) {
			req, xid := anyRequest(t, op), rapid.Int32().Draw(t, "xid")
			frame := AppendRequest([]byte("before"), xid, req)[len("before"):]
			h, body, err := DecodeHeader(payload(t, frame))
			if err != nil || h.Xid != xid || h.Op != op {
				t.Fatalf("header is %+v, %v", h, err)
			}
			got, err := DecodeRequest(h.Op, append(body, "trailing"...))
			check.OK(t, err)
			if diff := cmp.Diff(req, got); diff != "" {
				t.Fatalf("-sent +decoded:\n%s", diff)
			}
		}))
	}
}

func TestRepliesSurviveTheRoundTrip(t *testing.T) {
	for _, op := range implementedOps() {
		t.Run(op.String(), rapid.MakeCheck(func(t *rapid.T) {
			want := proto.ReplyHeader{
				Xid:  rapid.Int32().Draw(t, "xid"),
				Zxid: rapid.Int64().Draw(t, "zxid"),
			}
			reply := anyReply(t, op)
			frame := AppendReply([]byte("before"), want, reply)[len("before"):]
			h, body, err := DecodeReplyHeader(payload(t, frame))
			if err != nil || h != want {
				t.Fatalf("header is %+v, %v; want %+v", h, err, want)
			}
			got, err := DecodeReply(op, body)
			check.OK(t, err)
			if diff := cmp.Diff(reply, got); diff != "" {
				t.Fatalf("-sent +decoded:\n%s", diff)
			}
		}))
	}
}

func TestHandshakesSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := proto.ConnectRequest{
			ProtocolVersion: rapid.Int32().Draw(t, "version"),
			LastZxidSeen:    rapid.Int64().Draw(t, "zxid"),
			TimeoutMs:       rapid.Int32().Draw(t, "timeout"),
			SessionID:       rapid.Int64().Draw(t, "session"),
			Password:        anyBytes.Draw(t, "password"),
			HasReadOnly:     rapid.Bool().Draw(t, "hasReadOnly"),
		}
		req.ReadOnly = req.HasReadOnly && rapid.Bool().Draw(t, "readOnly")
		got, err := DecodeConnectRequest(payload(t, AppendConnectRequest(nil, req)))
		if diff := cmp.Diff(req, got); diff != "" || err != nil {
			t.Fatalf("%v\n-sent +decoded:\n%s", err, diff)
		}
		resp := proto.ConnectResponse{
			ProtocolVersion: req.ProtocolVersion, TimeoutMs: req.TimeoutMs,
			SessionID: req.SessionID,
			Password:  req.Password, HasReadOnly: req.HasReadOnly, ReadOnly: req.ReadOnly,
		}
		answer, err := DecodeConnectResponse(payload(t, AppendConnectResponse(nil, resp)))
		if diff := cmp.Diff(resp, answer); diff != "" || err != nil {
			t.Fatalf("%v\n-sent +decoded:\n%s", err, diff)
		}
	})
}

func TestEventsSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := proto.WatcherEvent{
			Type:  proto.EventType(rapid.Int32().Draw(t, "type")),
			State: rapid.Int32().Draw(t, "state"),
			Path:  anyPath.Draw(t, "path"),
		}
		h, body, err := DecodeReplyHeader(payload(t, AppendEvent(nil, ev)))
		if err != nil || h != (proto.ReplyHeader{Xid: -1, Zxid: -1}) {
			t.Fatalf("header is %+v, %v", h, err)
		}
		if got, err := DecodeEvent(body); err != nil || got != ev {
			t.Fatalf("got %+v, %v; sent %+v", got, err, ev)
		}
	})
}

func TestDecodedValuesShareNothingWithTheFrame(t *testing.T) {
	req := &proto.Create{
		Code: proto.OpCreate, Path: "/path", Data: []byte("data"),
		ACL: []proto.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}},
	}
	frame := AppendRequest(nil, 1, req)
	_, body, err := DecodeHeader(frame[4:])
	check.OK(t, err)
	got, err := DecodeRequest(proto.OpCreate, body)
	check.OK(t, err)
	clear(frame)
	check.Diff(t, got, req, "changed with the frame")
}
