package wire

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Generators of the parts of records.
var (
	anyString = rapid.OneOf(rapid.String(), rapid.Just(""), rapid.Just("\x00"))
	somePaths = []string{"", "/", "/a/b", "rel", proto.NullPath}
	anyPath   = rapid.OneOf(rapid.SampledFrom(somePaths), anyString)
	anyBytes  = rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "null") {
			return nil
		}
		return rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")
	})
	anyPaths = nullable(anyPath)
	anyACL   = nullable(rapid.Custom(func(t *rapid.T) proto.ACL {
		return proto.ACL{
			Perms:  rapid.Int32().Draw(t, "perms"),
			Scheme: anyString.Draw(t, "scheme"),
			ID:     rapid.OneOf(anyString, rapid.Just(proto.Null)).Draw(t, "id"),
		}
	}))
	anyStat = rapid.Custom(func(t *rapid.T) proto.Stat {
		i64, i32 := rapid.Int64(), rapid.Int32()
		return proto.Stat{
			Czxid: i64.Draw(t, "czxid"), Mzxid: i64.Draw(t, "mzxid"), Pzxid: i64.Draw(t, "pzxid"),
			Ctime: i64.Draw(t, "ctime"), Mtime: i64.Draw(t, "mtime"),
			Version: i32.Draw(t, "version"), Cversion: i32.Draw(t, "cversion"),
			Aversion: i32.Draw(t, "aversion"), EphemeralOwner: i64.Draw(t, "owner"),
			DataLength: i32.Draw(t, "length"), NumChildren: i32.Draw(t, "children"),
		}
	})
)

func nullable[T any](of *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just([]T(nil)), rapid.Just([]T{}), rapid.SliceOfN(of, 1, 4))
}

// requestGenerators has one entry for each implemented operation.
var requestGenerators = map[proto.OpCode]func(*rapid.T) proto.Request{
	proto.OpCreate:          anyCreate(proto.OpCreate),
	proto.OpCreate2:         anyCreate(proto.OpCreate2),
	proto.OpCreateContainer: anyCreate(proto.OpCreateContainer),
	proto.OpCreateTTL:       anyCreate(proto.OpCreateTTL),
	proto.OpDelete:          anyDelete,
	proto.OpExists: func(t *rapid.T) proto.Request {
		return &proto.Exists{Path: anyPath.Draw(t, "path"), Watch: rapid.Bool().Draw(t, "watch")}
	},
	proto.OpGetData:      anyGetData,
	proto.OpGetChildren:  anyGetChildren(proto.OpGetChildren),
	proto.OpGetChildren2: anyGetChildren(proto.OpGetChildren2),
	proto.OpSetData:      anySetData,
	proto.OpGetACL: func(t *rapid.T) proto.Request {
		return &proto.GetACL{Path: anyPath.Draw(t, "path")}
	},
	proto.OpSetACL: func(t *rapid.T) proto.Request {
		return &proto.SetACL{
			Path: anyPath.Draw(t, "path"), ACL: anyACL.Draw(t, "acl"),
			Version: rapid.Int32().Draw(t, "version"),
		}
	},
	proto.OpSync: func(t *rapid.T) proto.Request {
		return &proto.Sync{Path: anyPath.Draw(t, "path")}
	},
	proto.OpCheck: anyCheck,
	proto.OpMulti: anyMulti,
	proto.OpAuth: func(t *rapid.T) proto.Request {
		return &proto.Auth{
			Type: rapid.Int32().Draw(t, "type"), Scheme: anyString.Draw(t, "scheme"),
			Data: anyBytes.Draw(t, "data"),
		}
	},
	proto.OpMultiRead: anyMultiRead,
	proto.OpSasl: func(t *rapid.T) proto.Request {
		return &proto.Sasl{Token: anyBytes.Draw(t, "token")}
	},
	proto.OpSetWatches2: func(t *rapid.T) proto.Request {
		s := anySetWatches(proto.OpSetWatches2)(t).(*proto.SetWatches)
		s.PersistentWatches = anyPaths.Draw(t, "persistent")
		s.RecursiveWatches = anyPaths.Draw(t, "recursive")
		return s
	},
	proto.OpAddWatch: func(t *rapid.T) proto.Request {
		return &proto.AddWatch{Path: anyPath.Draw(t, "path"), Mode: rapid.Int32().Draw(t, "mode")}
	},
	proto.OpCheckWatches:  anyWatches(proto.OpCheckWatches),
	proto.OpRemoveWatches: anyWatches(proto.OpRemoveWatches),
	proto.OpGetEphemerals: func(t *rapid.T) proto.Request {
		return &proto.GetEphemerals{Prefix: anyString.Draw(t, "prefix")}
	},
	proto.OpGetAllChildrenNumber: func(t *rapid.T) proto.Request {
		return &proto.GetAllChildrenNumber{Path: anyPath.Draw(t, "path")}
	},
	proto.OpDeleteContainer: func(*rapid.T) proto.Request {
		return &proto.DeleteContainer{Path: "\x00"}
	},
	proto.OpCreateSession: func(t *rapid.T) proto.Request {
		return &proto.CreateSession{TimeoutMs: rapid.Int32().Draw(t, "timeout")}
	},
	proto.OpWhoAmI:     anySimple(proto.OpWhoAmI),
	proto.OpSetWatches: anySetWatches(proto.OpSetWatches),
	proto.OpReconfig: func(t *rapid.T) proto.Request {
		return &proto.Reconfig{
			Joining: anyString.Draw(t, "joining"), Leaving: anyString.Draw(t, "leaving"),
			NewMembers: anyString.Draw(t, "members"), CurConfigID: rapid.Int64().Draw(t, "config"),
		}
	},
	proto.OpPing:         anySimple(proto.OpPing),
	proto.OpCloseSession: anySimple(proto.OpCloseSession),
}

func anySetWatches(op proto.OpCode) func(*rapid.T) proto.Request {
	return func(t *rapid.T) proto.Request {
		return &proto.SetWatches{
			Code: op, RelativeZxid: rapid.Int64().Draw(t, "zxid"),
			DataWatches:  anyPaths.Draw(t, "data"),
			ExistWatches: anyPaths.Draw(t, "exist"), ChildWatches: anyPaths.Draw(t, "child"),
		}
	}
}

func anyWatches(op proto.OpCode) func(*rapid.T) proto.Request {
	return func(t *rapid.T) proto.Request {
		return &proto.Watches{
			Code: op, Path: anyPath.Draw(t, "path"), Type: rapid.Int32().Draw(t, "type"),
		}
	}
}

func anyCreate(op proto.OpCode) func(*rapid.T) proto.Request {
	return func(t *rapid.T) proto.Request {
		c := &proto.Create{
			Code: op, Path: anyPath.Draw(t, "path"), Data: anyBytes.Draw(t, "data"),
			ACL: anyACL.Draw(t, "acl"), Flags: rapid.Int32().Draw(t, "flags"),
		}
		if op == proto.OpCreateTTL {
			c.TTL = rapid.Int64().Draw(t, "ttl")
		}
		return c
	}
}

func anyGetData(t *rapid.T) proto.Request {
	return &proto.GetData{Path: anyPath.Draw(t, "path"), Watch: rapid.Bool().Draw(t, "watch")}
}

func anyGetChildren(op proto.OpCode) func(*rapid.T) proto.Request {
	return func(t *rapid.T) proto.Request {
		return &proto.GetChildren{
			Code: op, Path: anyPath.Draw(t, "path"), Watch: rapid.Bool().Draw(t, "watch"),
		}
	}
}

func anySimple(op proto.OpCode) func(*rapid.T) proto.Request {
	return func(*rapid.T) proto.Request { return &proto.Simple{Code: op} }
}

func anyDelete(t *rapid.T) proto.Request {
	return &proto.Delete{Path: anyPath.Draw(t, "path"), Version: rapid.Int32().Draw(t, "version")}
}

func anySetData(t *rapid.T) proto.Request {
	return &proto.SetData{
		Path: anyPath.Draw(t, "path"), Data: anyBytes.Draw(t, "data"),
		Version: rapid.Int32().Draw(t, "version"),
	}
}

func anyCheck(t *rapid.T) proto.Request {
	return &proto.Check{Path: anyPath.Draw(t, "path"), Version: rapid.Int32().Draw(t, "version")}
}

func anyMulti(t *rapid.T) proto.Request {
	generators := []func(*rapid.T) proto.Request{
		anyCreate(proto.OpCreate), anyCreate(proto.OpCreate2), anyCreate(proto.OpCreateContainer),
		anyCreate(proto.OpCreateTTL), anyDelete, anySetData, anyCheck,
	}
	return &proto.Multi{Ops: anyOps(t, generators)}
}

func anyMultiRead(t *rapid.T) proto.Request {
	generators := []func(*rapid.T) proto.Request{
		anyGetData, anyGetChildren(proto.OpGetChildren),
	}
	return &proto.MultiRead{Ops: anyOps(t, generators)}
}

func anyOps(t *rapid.T, generators []func(*rapid.T) proto.Request) []proto.Request {
	var ops []proto.Request
	for range rapid.IntRange(0, 5).Draw(t, "ops") {
		i := rapid.IntRange(0, len(generators)-1).Draw(t, "op")
		ops = append(ops, generators[i](t))
	}
	return ops
}

// anyReply draws a successful reply to op.
func anyReply(t *rapid.T, op proto.OpCode) proto.Reply {
	switch op {
	case proto.OpCreate, proto.OpSync:
		return proto.PathReply{Path: anyPath.Draw(t, "path")}
	case proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL:
		return proto.PathStatReply{Path: anyPath.Draw(t, "path"), Stat: anyStat.Draw(t, "stat")}
	case proto.OpExists, proto.OpSetData, proto.OpSetACL:
		return proto.StatReply{Stat: anyStat.Draw(t, "stat")}
	case proto.OpGetData, proto.OpReconfig:
		return proto.DataReply{Data: anyBytes.Draw(t, "data"), Stat: anyStat.Draw(t, "stat")}
	case proto.OpGetChildren:
		return proto.ChildrenReply{Names: rapid.SliceOf(anyString).Draw(t, "names")}
	case proto.OpGetChildren2:
		return proto.ChildrenStatReply{
			Names: rapid.SliceOf(anyString).Draw(t, "names"), Stat: anyStat.Draw(t, "stat"),
		}
	case proto.OpGetACL:
		return proto.ACLReply{ACL: anyACL.Draw(t, "acl"), Stat: anyStat.Draw(t, "stat")}
	case proto.OpMulti, proto.OpMultiRead:
		return anyMultiReply(t)
	case proto.OpAddWatch:
		return proto.ErrReply{Err: proto.ErrCode(rapid.Int32().Draw(t, "err"))}
	case proto.OpGetEphemerals:
		return proto.EphemeralsReply{Paths: rapid.SliceOf(anyString).Draw(t, "paths")}
	case proto.OpGetAllChildrenNumber:
		return proto.CountReply{Number: rapid.Int32().Draw(t, "number")}
	case proto.OpWhoAmI:
		return proto.WhoAmIReply{IDs: rapid.SliceOf(rapid.Custom(func(t *rapid.T) proto.ID {
			return proto.ID{Scheme: anyString.Draw(t, "scheme"), ID: anyString.Draw(t, "id")}
		})).Draw(t, "ids")}
	case proto.OpSasl:
		return proto.SaslReply{Token: anyBytes.Draw(t, "token")}
	}
	return nil
}

func anyMultiReply(t *rapid.T) proto.Reply {
	answered := []proto.OpCode{
		proto.OpCreate, proto.OpCreate2, proto.OpSetData, proto.OpDelete, proto.OpCheck,
		proto.OpError, proto.OpGetData, proto.OpGetChildren,
	}
	var m proto.MultiReply
	for range rapid.IntRange(0, 5).Draw(t, "results") {
		res := proto.OpResult{Op: rapid.SampledFrom(answered).Draw(t, "op")}
		if res.Op == proto.OpError {
			res.Err = proto.ErrCode(rapid.Int32().Draw(t, "err"))
		} else {
			res.Reply = anyReply(t, res.Op)
		}
		m.Results = append(m.Results, res)
	}
	return m
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
