package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// DecodeRequest decodes the body that followed a header with operation op. The
// error wraps [ErrUnknownOp] or [ErrMalformed].
func DecodeRequest(op proto.OpCode, body []byte) (proto.Request, error) {
	r := reader{rest: body}
	req := decodeRequest(&r, op)
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("%s: %w", op, r.err)
	case req == nil:
		return nil, fmt.Errorf("%w %d", ErrUnknownOp, int32(op))
	}
	return req, nil
}

// decodeRequest returns nil for an operation that the server does not implement. It is
// a switch, not a table of functions, so that the reader stays on the stack. The fields of a
// literal are read in the order in which they are written.
func decodeRequest(r *reader, op proto.OpCode) proto.Request {
	switch op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer:
		return decodeCreate(r, op)
	case proto.OpCreateTTL:
		return decodeCreateTTL(r, op)
	case proto.OpDelete:
		return &proto.Delete{Path: r.path(), Version: r.int32("version")}
	case proto.OpExists:
		return &proto.Exists{Path: r.path(), Watch: r.bool("watch")}
	case proto.OpGetData:
		return &proto.GetData{Path: r.path(), Watch: r.bool("watch")}
	case proto.OpGetChildren, proto.OpGetChildren2:
		return &proto.GetChildren{Code: op, Path: r.path(), Watch: r.bool("watch")}
	case proto.OpSetData:
		return &proto.SetData{
			Path: r.path(), Data: r.buffer("data"), Version: r.int32("version"),
		}
	case proto.OpGetACL:
		return &proto.GetACL{Path: r.path()}
	case proto.OpSetACL:
		return &proto.SetACL{Path: r.path(), ACL: r.acls(), Version: r.int32("version")}
	case proto.OpSync:
		return &proto.Sync{Path: r.path()}
	case proto.OpCheck:
		return &proto.Check{Path: r.path(), Version: r.int32("version")}
	case proto.OpMulti:
		return &proto.Multi{Ops: decodeOps(r)}
	case proto.OpMultiRead:
		return &proto.MultiRead{Ops: decodeOps(r)}
	case proto.OpAuth:
		return &proto.Auth{
			Type: r.int32("type"), Scheme: r.string("scheme"), Data: r.buffer("auth"),
		}
	case proto.OpSetWatches, proto.OpSetWatches2:
		return decodeSetWatches(r, op)
	case proto.OpAddWatch:
		return &proto.AddWatch{Path: r.path(), Mode: r.int32("mode")}
	case proto.OpCheckWatches, proto.OpRemoveWatches:
		return &proto.Watches{Code: op, Path: r.path(), Type: r.int32("type")}
	case proto.OpGetEphemerals:
		return &proto.GetEphemerals{Prefix: r.string("prefixPath")}
	case proto.OpGetAllChildrenNumber:
		return &proto.GetAllChildrenNumber{Path: r.path()}
	case proto.OpSasl:
		return &proto.Sasl{Token: r.buffer("token")}
	case proto.OpDeleteContainer:
		// The Java server takes the whole frame for the path, and there is
		// always a NUL in its header.
		return &proto.DeleteContainer{Path: "\x00"}
	case proto.OpCreateSession:
		return &proto.CreateSession{TimeoutMs: r.int32("timeOut")}
	case proto.OpReconfig:
		return decodeReconfig(r)
	case proto.OpPing:
		return ping
	case proto.OpWhoAmI, proto.OpCloseSession:
		return &proto.Simple{Code: op}
	}
	return nil
}

// ping is shared by all pings, to save the allocation: idle clients send nothing else.
var ping = &proto.Simple{Code: proto.OpPing}

func decodeCreate(r *reader, op proto.OpCode) *proto.Create {
	return &proto.Create{
		Code: op, Path: r.path(), Data: r.buffer("data"), ACL: r.acls(), Flags: r.int32("flags"),
	}
}

func decodeCreateTTL(r *reader, op proto.OpCode) proto.Request {
	c := decodeCreate(r, op)
	c.TTL = r.int64("ttl")
	return c
}

func decodeSetWatches(r *reader, op proto.OpCode) proto.Request {
	s := &proto.SetWatches{Code: op}
	s.RelativeZxid = r.int64("relativeZxid")
	s.DataWatches = r.paths("dataWatches")
	s.ExistWatches = r.paths("existWatches")
	s.ChildWatches = r.paths("childWatches")
	if op == proto.OpSetWatches2 {
		s.PersistentWatches = r.paths("persistentWatches")
		s.RecursiveWatches = r.paths("persistentRecursiveWatches")
	}
	return s
}

func decodeReconfig(r *reader) proto.Request {
	return &proto.Reconfig{
		Joining:     r.string("joiningServers"),
		Leaving:     r.string("leavingServers"),
		NewMembers:  r.string("newMembers"),
		CurConfigID: r.int64("curConfigId"),
	}
}
