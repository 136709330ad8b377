package wire

import (
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"

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
