package engine

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// seedConversations returns valid conversations: the corpus to start from.
func seedConversations() [][]byte {
	return append(seedReadsAndWrites(), seedOtherRequests()...)
}

// hello returns the command of a handshake on a connection.
func hello(conn byte) []byte { return []byte{conn<<4 | 2, 0, 100} }

// ask returns the command of a request on a connection.
func ask(conn byte, req proto.Request) []byte {
	body := wire.AppendRequest(nil, 0, req)[12:]
	return append([]byte{conn<<4 | 7, 1, byte(req.Op()), byte(len(body))}, body...)
}

func seedReadsAndWrites() [][]byte {
	return [][]byte{
		hello(0),
		slices.Concat(hello(0), ask(0, create("/a", 0)),
			ask(0, &proto.GetData{Path: "/a", Watch: true}),
			ask(0, &proto.SetData{Path: "/a", Version: -1})),
		slices.Concat(hello(0), hello(1), ask(0, create("/e", 1)),
			ask(1, &proto.Exists{Path: "/e", Watch: true}), []byte{3, 0}),
		slices.Concat(hello(0), ask(0, create("/s", 3)), []byte{1}, []byte{2, 1, 50},
			[]byte{0, 255}),
		slices.Concat(hello(0), []byte{4, 0}, hello(1), []byte{0, 20}, []byte{5}, hello(2)),
		slices.Concat(hello(0), ask(0, &proto.Multi{Ops: []proto.Request{
			create("/m", 0),
			&proto.Check{Path: "/m", Version: 0},
			&proto.Delete{Path: "/m", Version: 0},
		}})),
		slices.Concat(hello(0), ask(0, &proto.SetWatches{
			Code:        proto.OpSetWatches,
			DataWatches: []string{"/a"}, ExistWatches: []string{"/b"}, ChildWatches: []string{"/"},
		})),
		slices.Concat(hello(0), hello(1), ask(0, &proto.AddWatch{Path: "/", Mode: 1}),
			ask(0, &proto.GetData{Path: "/", Watch: true}), ask(1, create("/a", 0)),
			ask(0, &proto.Watches{Code: proto.OpRemoveWatches, Path: "/", Type: 2}),
			ask(1, &proto.Delete{Path: "/a", Version: -1})),
		slices.Concat(hello(0),
			ask(0, &proto.SetWatches{
				Code:        proto.OpSetWatches2,
				DataWatches: []string{}, ExistWatches: []string{}, ChildWatches: []string{},
				PersistentWatches: []string{"/a"}, RecursiveWatches: []string{"/"},
			}),
			ask(0, &proto.Watches{Code: proto.OpCheckWatches, Path: "/a", Type: 3})),
		slices.Concat(hello(0),
			ask(0, &proto.MultiRead{Ops: []proto.Request{
				&proto.GetData{Path: "/"}, &proto.GetData{Path: proto.NullPath},
			}}),
			ask(0, &proto.Multi{Ops: []proto.Request{&proto.Delete{Path: proto.NullPath}}}),
			ask(0, create("/a", 0))),
	}
}

func seedOtherRequests() [][]byte {
	return [][]byte{
		slices.Concat(hello(0), ask(0, &proto.CreateSession{TimeoutMs: -50_000}), []byte{0, 100},
			ask(0, &proto.Simple{Code: proto.OpPing})),
		slices.Concat(hello(0), ask(0, &proto.Auth{Scheme: "digest", Data: []byte("super:pw")}),
			ask(0, &proto.Simple{Code: proto.OpWhoAmI}), ask(0, &proto.Sasl{Token: []byte{}})),
		slices.Concat(hello(0), ask(0, container("/c")),
			ask(0, create("/c/k", 0)),
			ask(0, &proto.Delete{Path: "/c/k", Version: -1}), []byte{0, 40},
			ask(0, &proto.GetAllChildrenNumber{Path: "/"})),
		slices.Concat(hello(0),
			ask(0, ttlNode("/t", time.Second)),
			ask(0, &proto.GetEphemerals{Prefix: "/"}), []byte{0, 100}),
		{
			2, 0, 100, 8, 1, 0, 1, 0, 8, 2, 2, 1, 1, 8, 3, 17, 1, 1, 8, 4, 8, 3, 1, 9, 12, 18,
			1, 0, 0, 40,
		},
		slices.Concat(hello(0), ask(0, &proto.Reconfig{}),
			ask(0, &proto.Auth{Scheme: "digest", Data: []byte("a:b")}),
			ask(0, &proto.Sync{Path: "/"})),
		slices.Concat(hello(0), ask(0, &proto.Simple{Code: proto.OpPing}),
			ask(0, &proto.Simple{Code: proto.OpCloseSession}), hello(0)),
		slices.Concat([]byte{6, 3, 1, 2, 3}, hello(0), []byte{6, 8, 0, 0, 0, 1, 0, 0, 0, 99}),
	}
}

func create(path string, flags int32) proto.Request {
	return &proto.Create{
		Code: proto.OpCreate, Path: path, Flags: flags,
		ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}},
	}
}

func container(path string) proto.Request {
	c := create(path, proto.FlagContainer).(*proto.Create)
	c.Code = proto.OpCreateContainer
	return c
}

func ttlNode(path string, ttl time.Duration) proto.Request {
	c := create(path, proto.FlagTTL).(*proto.Create)
	c.Code, c.TTL = proto.OpCreateTTL, ttl.Milliseconds()
	return c
}
