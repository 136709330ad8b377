package wire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// TestListsLikeTheOpenOne decodes lists that resemble openACL, which has its own decoder.
func TestListsLikeTheOpenOne(t *testing.T) {
	open := proto.ACL{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}
	for _, list := range [][]proto.ACL{
		{open}, {open, open}, {open, {Perms: 1, Scheme: "ip", ID: "10.0.0.1"}}, {},
		{{Perms: 1, Scheme: "world", ID: "anyone"}}, {{Perms: 31, Scheme: "world", ID: "anyon"}},
		{{Perms: 31, Scheme: "world", ID: proto.Null}}, {{Perms: 31, Scheme: "worl", ID: "anyone"}},
	} {
		want := &proto.SetACL{Path: "/a", ACL: list, Version: 7}
		body := AppendRequest(nil, 1, want)[12:]
		got, err := DecodeRequest(proto.OpSetACL, body)
		if diff := cmp.Diff(proto.Request(want), got); err != nil || diff != "" {
			t.Errorf("%+v: %v\n%s", list, err, diff)
		}
		if len(list) > 0 {
			// Cut off the version and one letter of the last id.
			body = slices.Delete(body, len(body)-5, len(body))
			if got, err := DecodeRequest(proto.OpSetACL, body); err == nil {
				t.Errorf("%+v cut short: %+v", list, got)
			}
		}
	}
}
