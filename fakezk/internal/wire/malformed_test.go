package wire

import (
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	check.OK(t, err)
	return b
}

func TestMalformedRequestsNameTheField(t *testing.T) {
	const root = "00000001 2f "
	tests := []struct {
		name string
		op   proto.OpCode
		body string
		want string
	}{
		{"no body", proto.OpExists, "", "path"},
		{
			"path longer than the frame", proto.OpExists, "00000003 2f",
			"path: needs 3 bytes, 1 are left",
		},
		{"path of length -2", proto.OpExists, "fffffffe", "path: length -2"},
		{"length beyond any frame", proto.OpSync, "7fffffff 2f", "path: needs 2147483647 bytes"},
		{"no watch byte", proto.OpGetChildren, root, "watch"},
		{"half a version", proto.OpDelete, root + "0000", "version: needs 4 bytes, 2 are left"},
		{
			"billions of ACLs", proto.OpSetACL, root + "7fffffff 00000000",
			"acl: 2147483647 entries cannot fit in 4 bytes",
		},
		{
			"ACL without an id", proto.OpSetACL, root + "00000001 0000001f 00000000 00000005",
			"acl.id: needs 5 bytes",
		},
		{"billions of watches", proto.OpSetWatches, "0000000000000000 40000000", "dataWatches"},
		{"createTTL without ttl", proto.OpCreateTTL, root + "ffffffff ffffffff 00000005", "ttl"},
		{"empty multi body", proto.OpMulti, "", "multi.type"},
		{
			"multi without an end", proto.OpMulti, "0000000d 00 ffffffff" + root + "ffffffff",
			"multi.type",
		},
		{
			"exists in a multi", proto.OpMulti, "00000003 00 ffffffff" + root + "00",
			"exists is not allowed",
		},
		{
			"read and write in a multi", proto.OpMultiRead,
			"00000004 00 ffffffff" + root + "00" + "0000000d 00 ffffffff" + root + "00000000",
			"check is mixed with getData",
		},
		{
			"setWatches2 without the recursive ones", proto.OpSetWatches2,
			"0000000000000000 00000000 00000000 00000000 00000000", "persistentRecursiveWatches",
		},
		{"watches without a type", proto.OpRemoveWatches, root, "type"},
		{"setACL in a multi", proto.OpMulti, "00000007 00 ffffffff", "setACL is not allowed"},
		{"multi in a multi", proto.OpMulti, "0000000e 00 ffffffff", "multi is not allowed"},
		{"auth cut short", proto.OpAuth, "00000000 00000006 64696765", "scheme"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, err := DecodeRequest(test.op, unhex(t, test.body))
			if !errors.Is(err, ErrMalformed) || req != nil {
				t.Fatalf("got %v, %v", req, err)
			}
			check.Contains(t, err.Error(), test.want, "error")
		})
	}
}

func TestLenientLikeTheJavaServer(t *testing.T) {
	tests := []struct {
		name string
		op   proto.OpCode
		body string
		want proto.Request
	}{
		{
			"any non-zero byte is true", proto.OpExists, "00000001 2f 80",
			&proto.Exists{Path: "/", Watch: true},
		},
		{"trailing bytes", proto.OpSync, "00000001 2f dead", &proto.Sync{Path: "/"}},
		{"null path to sync", proto.OpSync, "ffffffff", &proto.Sync{Path: proto.NullPath}},
		{
			"null path to setData", proto.OpSetData, "ffffffff ffffffff ffffffff",
			&proto.SetData{Path: proto.NullPath, Version: -1},
		},
		{"null prefix", proto.OpGetEphemerals, "ffffffff", &proto.GetEphemerals{}},
		{"path that is not UTF-8", proto.OpSync, "00000003 2fff61", &proto.Sync{Path: "/\ufffda"}},
		{
			"deleteContainer's body", proto.OpDeleteContainer, "00000001 2f",
			&proto.DeleteContainer{Path: "\x00"},
		},
		{
			"empty data", proto.OpSetData, "00000001 2f 00000000 ffffffff",
			&proto.SetData{Path: "/", Data: []byte{}, Version: -1},
		},
		{
			"null ACL list", proto.OpSetACL, "00000001 2f ffffffff 00000000",
			&proto.SetACL{Path: "/"},
		},
		{
			"ACL count -5", proto.OpSetACL, "00000001 2f fffffffb 00000000",
			&proto.SetACL{Path: "/", ACL: []proto.ACL{}},
		},
		{"body of a ping", proto.OpPing, "ff", &proto.Simple{Code: proto.OpPing}},
		{"empty multi", proto.OpMulti, "ffffffff 01 ffffffff", &proto.Multi{}},
		{"any end marker", proto.OpMulti, "00000001 02 00000000", &proto.Multi{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeRequest(test.op, unhex(t, test.body))
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestUnknownOperations(t *testing.T) {
	for _, op := range []proto.OpCode{0, 10, 23, 50, 99, 108, -1, -2, -12} {
		if _, err := DecodeRequest(op, nil); !errors.Is(err, ErrUnknownOp) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func TestShortFirstFrames(t *testing.T) {
	if _, err := DecodeConnectRequest(make([]byte, 28)); err != nil {
		t.Errorf("28 zero bytes: %v", err)
	}
	for n := range 28 {
		if _, err := DecodeConnectRequest(make([]byte, n)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d zero bytes: %v", n, err)
		}
	}
	for n := range 8 {
		if _, _, err := DecodeHeader(make([]byte, n)); !errors.Is(err, ErrMalformed) {
			t.Errorf("header of %d bytes: %v", n, err)
		}
	}
	if _, body, err := DecodeHeader(make([]byte, 8)); err != nil || len(body) != 0 {
		t.Errorf("header of 8 bytes: body % x, %v", body, err)
	}
}

func TestHugeCountAllocatesNothing(t *testing.T) {
	body := unhex(t, "00000001 2f 7fffffff")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := DecodeRequest(proto.OpSetACL, body); err == nil {
		t.Fatal("decoded")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("allocated %d bytes for a body of %d", grown, len(body))
	}
}
