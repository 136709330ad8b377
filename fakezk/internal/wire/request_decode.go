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
// a switch, not a table of functions, so that the reader stays on the stack.
func decodeRequest(r *reader, op proto.OpCode) proto.Request {
	switch op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer:
		return decodeCreate(r, op)
	case proto.OpCreateTTL:
		return decodeCreateTTL(r, op)
	case proto.OpDelete:
		return decodeDelete(r)
	case proto.OpExists:
		return decodeExists(r)
	case proto.OpGetData:
		return decodeGetData(r)
	case proto.OpGetChildren, proto.OpGetChildren2:
		return decodeGetChildren(r, op)
	case proto.OpSetData:
		return decodeSetData(r)
	case proto.OpGetACL:
		return decodeGetACL(r)
	case proto.OpSetACL:
		return decodeSetACL(r)
	case proto.OpSync:
		return decodeSync(r)
	case proto.OpCheck:
		return decodeCheck(r)
	case proto.OpMulti:
		return &proto.Multi{Ops: decodeOps(r)}
	case proto.OpMultiRead:
		return &proto.MultiRead{Ops: decodeOps(r)}
	case proto.OpAuth:
		return decodeAuth(r)
	case proto.OpSetWatches, proto.OpSetWatches2:
		return decodeSetWatches(r, op)
	case proto.OpAddWatch:
		return decodeAddWatch(r)
	case proto.OpCheckWatches, proto.OpRemoveWatches:
		return decodeWatches(r, op)
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

func decodeCreate(r *reader, op proto.OpCode) proto.Request {
	c := &proto.Create{Code: op}
	c.Path = r.path()
	c.Data = r.buffer("data")
	c.ACL = r.acls()
	c.Flags = r.int32("flags")
	return c
}

func decodeCreateTTL(r *reader, op proto.OpCode) proto.Request {
	c := decodeCreate(r, op).(*proto.Create)
	c.TTL = r.int64("ttl")
	return c
}

func decodeDelete(r *reader) proto.Request {
	d := &proto.Delete{}
	d.Path = r.path()
	d.Version = r.int32("version")
	return d
}

func decodeExists(r *reader) proto.Request {
	e := &proto.Exists{}
	e.Path = r.path()
	e.Watch = r.bool("watch")
	return e
}

func decodeGetData(r *reader) proto.Request {
	g := &proto.GetData{}
	g.Path = r.path()
	g.Watch = r.bool("watch")
	return g
}

func decodeGetChildren(r *reader, op proto.OpCode) proto.Request {
	g := &proto.GetChildren{Code: op}
	g.Path = r.path()
	g.Watch = r.bool("watch")
	return g
}

func decodeSetData(r *reader) proto.Request {
	s := &proto.SetData{}
	s.Path = r.path()
	s.Data = r.buffer("data")
	s.Version = r.int32("version")
	return s
}

func decodeGetACL(r *reader) proto.Request {
	return &proto.GetACL{Path: r.path()}
}

func decodeSetACL(r *reader) proto.Request {
	s := &proto.SetACL{}
	s.Path = r.path()
	s.ACL = r.acls()
	s.Version = r.int32("version")
	return s
}

func decodeSync(r *reader) proto.Request {
	return &proto.Sync{Path: r.path()}
}

func decodeCheck(r *reader) proto.Request {
	c := &proto.Check{}
	c.Path = r.path()
	c.Version = r.int32("version")
	return c
}

func decodeAuth(r *reader) proto.Request {
	a := &proto.Auth{}
	a.Type = r.int32("type")
	a.Scheme = r.string("scheme")
	a.Data = r.buffer("auth")
	return a
}

func decodeAddWatch(r *reader) proto.Request {
	a := &proto.AddWatch{}
	a.Path = r.path()
	a.Mode = r.int32("mode")
	return a
}

func decodeWatches(r *reader, op proto.OpCode) proto.Request {
	w := &proto.Watches{Code: op}
	w.Path = r.path()
	w.Type = r.int32("type")
	return w
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
	c := &proto.Reconfig{}
	c.Joining = r.string("joiningServers")
	c.Leaving = r.string("leavingServers")
	c.NewMembers = r.string("newMembers")
	c.CurConfigID = r.int64("curConfigId")
	return c
}
