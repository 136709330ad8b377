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
		return appendInt32(appendACLs(appendString(dst, q.Path), q.ACL, appendString), q.Version)
	case *proto.Sync:
		return appendString(dst, q.Path)
	case *proto.Check:
		return appendInt32(appendString(dst, q.Path), q.Version)
	case *proto.Multi:
		return appendOps(dst, q.Ops)
	case *proto.MultiRead:
		return appendOps(dst, q.Ops)
	case *proto.Auth:
		return appendBuffer(appendString(appendInt32(dst, q.Type), q.Scheme), q.Data)
	case *proto.SetWatches:
		return appendSetWatches(dst, q)
	case *proto.Reconfig:
		return appendReconfig(dst, q)
	case *proto.Sasl:
		return appendBuffer(dst, q.Token)
	case *proto.AddWatch:
		return appendInt32(appendString(dst, q.Path), q.Mode)
	case *proto.Watches:
		return appendInt32(appendString(dst, q.Path), q.Type)
	case *proto.GetEphemerals:
		return appendString(dst, q.Prefix)
	case *proto.GetAllChildrenNumber:
		return appendString(dst, q.Path)
	case *proto.CreateSession:
		return appendInt32(dst, q.TimeoutMs)
	case *proto.Simple, *proto.DeleteContainer:
		return dst
	}
	panic(fmt.Sprintf("wire: no encoding for request %T", req))
}

func appendCreate(dst []byte, c *proto.Create) []byte {
	dst = appendString(dst, c.Path)
	dst = appendBuffer(dst, c.Data)
	dst = appendACLs(dst, c.ACL, appendString)
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
	dst = appendStrings(dst, s.ChildWatches)
	if s.Code == proto.OpSetWatches2 {
		dst = appendStrings(dst, s.PersistentWatches)
		dst = appendStrings(dst, s.RecursiveWatches)
	}
	return dst
}

func appendReconfig(dst []byte, c *proto.Reconfig) []byte {
	dst = appendString(dst, c.Joining)
	dst = appendString(dst, c.Leaving)
	dst = appendString(dst, c.NewMembers)
	return appendInt64(dst, c.CurConfigID)
}
