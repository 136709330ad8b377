package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// goldenStat has another number in each field; goldenStatHex is its encoding.
var goldenStat = proto.Stat{
	Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7,
	EphemeralOwner: 8, DataLength: 9, NumChildren: 10, Pzxid: 11,
}

const goldenStatHex = "0000000000000001 0000000000000002 0000000000000003 0000000000000004 " +
	"00000005 00000006 00000007 0000000000000008 00000009 0000000a 000000000000000b"

// goldenOK is the header of a successful reply; goldenOKHex is its encoding.
var goldenOK = proto.ReplyHeader{Xid: 7, Zxid: 0x10}

const goldenOKHex = " 00000007 0000000000000010 00000000 "

// goldenFrames are frames and their encodings. Spaces separate fields.
var goldenFrames = []struct {
	name  string
	frame []byte
	want  string
}{
	{"connect request of an old client", AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 4000, Password: []byte{}}), "0000001c 00000000 0000000000000000 00000fa0 0000000000000000 00000000"},
	{
		"connect request with a readOnly byte",
		AppendConnectRequest(nil, proto.ConnectRequest{
			LastZxidSeen: 5, SessionID: -1, HasReadOnly: true, ReadOnly: true,
		}),
		"0000001d 00000000 0000000000000005 00000000 ffffffffffffffff ffffffff 01",
	},
	{"refusal", AppendConnectResponse(nil, proto.ConnectResponse{Password: make([]byte, 16)}), "00000024 00000000 00000000 0000000000000000 00000010 00000000000000000000000000000000"},
	{
		"createTTL",
		AppendRequest(nil, 1, &proto.Create{
			Code: proto.OpCreateTTL, Path: "/a", Flags: proto.FlagTTL, TTL: 256,
			ACL: []proto.ACL{{Perms: 31, Scheme: "ip", ID: "x"}},
		}),
		"00000031 00000001 00000015 00000002 2f61 ffffffff 00000001 0000001f 00000002 6970 " +
			"00000001 78" +
			" 00000005 0000000000000100",
	},
	{
		"setWatches",
		AppendRequest(nil, -8, &proto.SetWatches{
			Code: proto.OpSetWatches, RelativeZxid: 9,
			DataWatches: []string{"/a"}, ExistWatches: []string{},
		}),
		"00000022 fffffff8 00000065 0000000000000009 00000001 00000002 2f61 00000000 ffffffff",
	},
	{
		"reconfig",
		AppendRequest(nil, 3, &proto.Reconfig{
			Joining: "a", Leaving: "b", NewMembers: "c", CurConfigID: -1,
		}),
		"0000001f 00000003 00000010 00000001 61 00000001 62 00000001 63 ffffffffffffffff",
	},
	{
		"multi",
		AppendRequest(
			nil, 2, &proto.Multi{Ops: []proto.Request{&proto.Check{Path: "/a", Version: -1}}},
		),
		"00000024 00000002 0000000e 0000000d 00 ffffffff 00000002 2f61 ffffffff ffffffff 01 " +
			"ffffffff",
	},
	{
		"error reply",
		AppendReply(nil, proto.ReplyHeader{Xid: -3, Zxid: 1, Err: proto.NoNode}, nil),
		"00000010 fffffffd 0000000000000001 ffffff9b",
	},
	{
		"null data",
		AppendReply(nil, goldenOK, proto.DataReply{Stat: goldenStat}),
		"00000058" + goldenOKHex + "ffffffff " + goldenStatHex,
	},
	{
		"no children",
		AppendReply(nil, goldenOK, proto.ChildrenReply{}),
		"00000014" + goldenOKHex + "00000000",
	},
	{
		"multi that succeeded: create2 is answered as create, createContainer as create2",
		AppendReply(nil, goldenOK, proto.MultiReply{Results: []proto.OpResult{
			{Op: proto.OpCreate2, Reply: proto.PathReply{Path: "/a"}},
			{Op: proto.OpCreateContainer, Reply: proto.PathStatReply{Path: "/b", Stat: goldenStat}},
			{Op: proto.OpDelete},
		}}),
		"00000084" + goldenOKHex +
			"00000001 00 00000000 00000002 2f61" +
			"0000000f 00 00000000 00000002 2f62" + goldenStatHex +
			"00000002 00 00000000" +
			"ffffffff 01 ffffffff",
	},
	{
		"multi that failed",
		AppendReply(nil, goldenOK, proto.MultiReply{Results: []proto.OpResult{
			{Op: proto.OpError},
			{Op: proto.OpError, Err: proto.BadVersion},
			{Op: proto.OpError, Err: proto.RuntimeInconsistency},
		}}),
		"00000040" + goldenOKHex +
			"ffffffff 00 00000000 00000000" +
			"ffffffff 00 ffffff99 ffffff99" +
			"ffffffff 00 fffffffe fffffffe" +
			"ffffffff 01 ffffffff",
	},
	{"notification", AppendEvent(nil, proto.WatcherEvent{Type: proto.EventDeleted, State: 3, Path: "/a"}), "0000001e ffffffff ffffffffffffffff 00000000 00000002 00000003 00000002 2f61"},
}

// TestGoldenFrames pins the layout of records byte for byte.
func TestGoldenFrames(t *testing.T) {
	for _, test := range goldenFrames {
		t.Run(test.name, func(t *testing.T) {
			want := strings.ReplaceAll(test.want, " ", "")
			check.Equal(t, hex.EncodeToString(test.frame), want)
		})
	}
}
