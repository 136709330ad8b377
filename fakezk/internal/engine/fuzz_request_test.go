package engine

import "github.com/zksim/zksim/fakezk/internal/proto"

// fuzzPaths are few, so that requests concern the same nodes.
var fuzzPaths = []string{
	"/a", "/a/b", "/", "/c", "/c/d", "/a/e", "", "rel", proto.NullPath,
	"/zookeeper/quota/a", "/zookeeper/quota/a/zookeeper_limits",
	"/zookeeper/quota/a/zookeeper_stats",
}

// plausibleRequest returns a request made from three bytes: its kind, its path and its options.
func plausibleRequest(input *[]byte) proto.Request {
	what, where, how := takeByte(input), takeByte(input), int32(takeByte(input))
	path := fuzzPaths[int(where)%len(fuzzPaths)]
	watch, version, list := how&1 > 0, how%3-1, []string{path, "/a"}
	switch what % 24 {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		return plausibleWrite(what%24, path, how)
	case 8:
		return &proto.Exists{Path: path, Watch: watch}
	case 9:
		return &proto.GetData{Path: path, Watch: watch}
	case 10:
		codes := []proto.OpCode{proto.OpGetChildren, proto.OpGetChildren2}
		return &proto.GetChildren{Code: codes[how>>1&1], Path: path, Watch: watch}
	case 11, 12:
		return &proto.AddWatch{Path: path, Mode: how % 3}
	case 13:
		return &proto.Watches{Code: proto.OpRemoveWatches, Path: path, Type: how % 5}
	case 14:
		return &proto.Watches{Code: proto.OpCheckWatches, Path: path, Type: how % 5}
	case 15:
		return &proto.SetWatches{
			Code: proto.OpSetWatches2, RelativeZxid: int64(how),
			DataWatches: list, ExistWatches: list, ChildWatches: list,
			PersistentWatches: list[:how%3], RecursiveWatches: list[:how%2],
		}
	case 16:
		return &proto.MultiRead{Ops: []proto.Request{
			&proto.GetData{Path: "/a"},
			&proto.GetChildren{Code: proto.OpGetChildren, Path: path},
		}}
	case 17:
		return &proto.Multi{Ops: []proto.Request{
			plausibleWrite(0, path, how),
			&proto.SetData{Path: path, Version: version},
			&proto.Check{Path: "/a", Version: -1}, &proto.Delete{Path: path, Version: -1},
		}}
	case 18:
		return &proto.GetEphemerals{Prefix: path}
	case 19:
		return &proto.GetAllChildrenNumber{Path: path}
	case 20:
		return &proto.Auth{
			Scheme: []string{"digest", "ip", "world"}[how%3],
			Data:   []byte([]string{"super:pw", "u:p", ""}[where%3]),
		}
	case 21:
		return &proto.CreateSession{TimeoutMs: (how - 128) * 100}
	}
	return smallRequest(path, version, how)
}

func plausibleWrite(what byte, path string, how int32) proto.Request {
	acl, version := plausibleACL(how), how%3-1
	switch what {
	case 0:
		return &proto.Create{Code: proto.OpCreate, Path: path, ACL: acl, Flags: how % 8}
	case 1:
		return &proto.Create{
			Code: proto.OpCreate2, Path: path, ACL: acl, Flags: how % 4,
			Data: []byte("count=1,bytes=9=;countHardLimit=2"),
		}
	case 2:
		return &proto.Create{Code: proto.OpCreateContainer, Path: path, ACL: acl, Flags: 4}
	case 3:
		ttl := int64(how) * 100
		return &proto.Create{Code: proto.OpCreateTTL, Path: path, ACL: acl, Flags: 5, TTL: ttl}
	case 4, 5:
		return &proto.Delete{Path: path, Version: version}
	case 6:
		return &proto.SetData{Path: path, Version: version, Data: make([]byte, how)}
	default:
		return &proto.SetACL{Path: path, ACL: acl, Version: version}
	}
}

func plausibleACL(how int32) []proto.ACL {
	schemes := []string{"world", "auth"}
	return []proto.ACL{{Perms: 31 - how>>6, Scheme: schemes[how>>5&1], ID: "anyone"}}
}

// smallRequest returns a request with at most a path and a version.
func smallRequest(path string, version, how int32) proto.Request {
	return []proto.Request{
		&proto.Simple{Code: proto.OpPing}, &proto.Simple{Code: proto.OpWhoAmI},
		&proto.Simple{Code: proto.OpCloseSession},
		&proto.Sync{Path: path}, &proto.GetACL{Path: path},
		&proto.Check{Path: path, Version: version}, &proto.Reconfig{},
		&proto.Sasl{Token: []byte{}}, &proto.DeleteContainer{Path: path},
	}[how%9]
}

// take reads n bytes, fewer at the end of the input.
func take(input *[]byte, n int) []byte {
	n = min(n, len(*input))
	p := (*input)[:n]
	*input = (*input)[n:]
	return p
}

func takeByte(input *[]byte) byte {
	if p := take(input, 1); len(p) == 1 {
		return p[0]
	}
	return 0
}
