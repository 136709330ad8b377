package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// AppendRequest appends a whole frame with the header of req and its body, as a
// client would send it. It panics if req is not one of proto's request types.
func AppendRequest(dst []byte, xid int32, req proto.Request) []byte {
	dst, start := beginFrame(dst)
	dst = appendInt32(dst, xid)
	dst = appendInt32(dst, int32(req.Op()))
	dst = appendRequestBody(dst, req)
	return endFrame(dst, start)
}

func appendRequestBody(dst []byte, req proto.Request) []byte {
	switch q := req.(type) {
	case *proto.Create:
		return appendCreate(dst, q)
	case *proto.Delete:
		return appendInt32(appendString(dst, q.Path), q.Version)
	case *proto.Exists:
		return appendBool(appendString(dst, q.Path), q.Watch)
	case *proto.GetData:
		return appendBool(appendString(dst, q.Path), q.Watch)
	case *proto.GetChildren:
		return appendBool(appendString(dst, q.Path), q.Watch)
	case *proto.SetData:
		return appendInt32(appendBuffer(appendString(dst, q.Path), q.Data), q.Version)
	case *proto.GetACL:
		return appendString(dst, q.Path)
	case *proto.SetACL:
		return appendInt32(appendACLs(appendString(dst, q.Path), q.ACL), q.Version)
	case *proto.Sync:
		return appendString(dst, q.Path)
	case *proto.Check:
		return appendInt32(appendString(dst, q.Path), q.Version)
	case *proto.Multi:
		return appendMulti(dst, q)
	case *proto.Auth:
		return appendBuffer(appendString(appendInt32(dst, q.Type), q.Scheme), q.Data)
	case *proto.SetWatches:
		return appendSetWatches(dst, q)
	case *proto.Reconfig:
		return appendReconfig(dst, q)
	case *proto.Simple:
		return dst
	}
	panic(fmt.Sprintf("wire: no encoding for request %T", req))
}

func appendCreate(dst []byte, c *proto.Create) []byte {
	dst = appendString(dst, c.Path)
	dst = appendBuffer(dst, c.Data)
	dst = appendACLs(dst, c.ACL)
	dst = appendInt32(dst, c.Flags)
	if c.Code == proto.OpCreateTTL {
		dst = appendInt64(dst, c.TTL)
	}
	return dst
}

func appendSetWatches(dst []byte, s *proto.SetWatches) []byte {
	dst = appendInt64(dst, s.RelativeZxid)
	dst = appendStrings(dst, s.DataWatches)
	dst = appendStrings(dst, s.ExistWatches)
	return appendStrings(dst, s.ChildWatches)
}

func appendReconfig(dst []byte, c *proto.Reconfig) []byte {
	dst = appendString(dst, c.Joining)
	dst = appendString(dst, c.Leaving)
	dst = appendString(dst, c.NewMembers)
	return appendInt64(dst, c.CurConfigID)
}
