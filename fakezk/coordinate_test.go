package fakezk

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

func TestRequestsAsCoordinates(t *testing.T) {
	multi := []proto.Request{&proto.Check{Path: "/a"}, rawCreate("/b", 0)}
	tests := []struct {
		req      proto.Request
		op, path string
	}{
		{rawCreate("/a", 0), "create", "/a"},
		{&proto.Delete{Path: "/a"}, "delete", "/a"},
		{&proto.Exists{Path: "/a"}, "exists", "/a"},
		{&proto.GetData{Path: "/a"}, "getData", "/a"},
		{&proto.SetData{Path: "/a"}, "setData", "/a"},
		{&proto.GetACL{Path: "/a"}, "getACL", "/a"},
		{&proto.SetACL{Path: "/a", ACL: worldAll}, "setACL", "/a"},
		{&proto.GetChildren{Code: proto.OpGetChildren2, Path: "/a"}, "getChildren2", "/a"},
		{&proto.GetAllChildrenNumber{Path: "/a"}, "getAllChildrenNumber", "/a"},
		{&proto.GetEphemerals{Prefix: "/a"}, "getEphemerals", "/a"},
		{&proto.Sync{Path: "/a"}, "sync", "/a"},
		{&proto.Check{Path: "/a"}, "check", "/a"},
		{&proto.AddWatch{Path: "/a"}, "addWatch", "/a"},
		{&proto.Watches{Code: proto.OpRemoveWatches, Path: "/a"}, "removeWatches", "/a"},
		{&proto.Multi{Ops: multi}, "multi", "/a"},
		{&proto.Multi{}, "multi", ""},
		{&proto.MultiRead{Ops: []proto.Request{&proto.GetData{Path: "/a"}}}, "multiRead", "/a"},
		{&proto.SetWatches{Code: proto.OpSetWatches, DataWatches: []string{"/a"}}, "setWatches", ""},
		{&proto.Simple{Code: proto.OpCloseSession}, "closeSession", ""},
	}
	for _, test := range tests {
		c, ok := requestCoordinate("S1", 2, wire.AppendRequest(nil, 1, test.req)[4:])
		if want := (coordinate{client: "S1", conn: 2, op: test.op, path: test.path}); !ok || c != want {
			t.Errorf("%s: %+v, %v; want %+v", test.op, c, ok, want)
		}
	}
	if c, ok := requestCoordinate("S1", 1, []byte{0, 0, 0, 1, 0, 0, 0, 4, 9}); !ok || c.op != "getData" || c.path != "" {
		t.Errorf("a malformed request: %+v, %v", c, ok)
	}
	for _, none := range [][]byte{wire.AppendRequest(nil, -2, ping)[4:], {0, 0, 0, 1}} {
		if c, ok := requestCoordinate("S1", 1, none); ok {
			t.Errorf("% x counts as %+v", none, c)
		}
	}
}

func TestDamage(t *testing.T) {
	reply, event := engine.Output{Frame: []byte("reply")}, engine.Output{Frame: []byte("event"), Event: &proto.WatcherEvent{}}
	end := engine.Output{Close: true}
	tests := []struct {
		kind              FaultKind
		reply, event, end damage
	}{
		{DropReply, lost, lost, lost},
		{Cut, unharmed, unharmed, lost},
		{CutMidFrame, torn, unharmed, lost},
		{StallMidFrame, torn, unharmed, unharmed},
	}
	for _, test := range tests {
		if got := [...]damage{test.kind.damageTo(reply), test.kind.damageTo(event), test.kind.damageTo(end)}; got != [...]damage{test.reply, test.event, test.end} {
			t.Errorf("%s: %v", test.kind, got)
		}
	}
}
