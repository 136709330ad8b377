package carry

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

func TestRequestsAsCoordinates(t *testing.T) {
	multi := []proto.Request{
		&proto.Check{Path: "/a"}, &proto.Create{Code: proto.OpCreate, Path: "/b"},
	}
	tests := []struct {
		req      proto.Request
		op, path string
	}{
		{&proto.Create{Code: proto.OpCreate, Path: "/a"}, "create", "/a"},
		{&proto.Delete{Path: "/a"}, "delete", "/a"},
		{&proto.Exists{Path: "/a"}, "exists", "/a"},
		{&proto.GetData{Path: "/a"}, "getData", "/a"},
		{&proto.SetData{Path: "/a"}, "setData", "/a"},
		{&proto.GetACL{Path: "/a"}, "getACL", "/a"},
		{&proto.SetACL{Path: "/a", ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "world",
			ID: "anyone"}}}, "setACL", "/a"},
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
		{
			&proto.SetWatches{
				Code: proto.OpSetWatches, DataWatches: []string{"/a"},
			}, "setWatches", "",
		},
		{&proto.Simple{Code: proto.OpCloseSession}, "closeSession", ""},
	}
	conn := &Conn{Client: &Client{Name: "S1"}, Number: 2, Server: 2}
	for _, test := range tests {
		c, ok := conn.requestCoordinate(wire.AppendRequest(nil, 1, test.req)[4:])
		if want := (fault.Coordinate{
			Client: "S1", Conn: 2, Server: 3, Op: test.op, Path: test.path,
		}); !ok || c != want {
			t.Errorf("%s: %+v, %v; want %+v", test.op, c, ok, want)
		}
	}
	if c, ok := conn.requestCoordinate([]byte{0, 0, 0, 1, 0, 0, 0, 4, 9}); !ok ||
		c.Op != "getData" || c.Path != "" {
		t.Errorf("a malformed request: %+v, %v", c, ok)
	}
	for _, none := range [][]byte{wire.AppendRequest(
		nil, -2, &proto.Simple{Code: proto.OpPing},
	)[4:],
		{0, 0, 0, 1}} {
		if c, ok := conn.requestCoordinate(none); ok {
			t.Errorf("% x counts as %+v", none, c)
		}
	}
}
