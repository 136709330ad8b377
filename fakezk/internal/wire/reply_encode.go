package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// AppendReply appends a whole frame with the header h and, unless it is nil,
// the body. It panics if body is not one of proto's reply types (by value).
func AppendReply(dst []byte, h proto.ReplyHeader, body proto.Reply) []byte {
	dst, start := beginFrame(dst)
	dst = appendReplyHeader(dst, h)
	dst = appendReplyBody(dst, body)
	return endFrame(dst, start)
}

func appendReplyBody(dst []byte, body proto.Reply) []byte {
	switch b := body.(type) {
	case nil:
		return dst
	case proto.PathReply:
		return appendString(dst, b.Path)
	case proto.PathStatReply:
		return appendStat(appendString(dst, b.Path), b.Stat)
	case proto.StatReply:
		return appendStat(dst, b.Stat)
	case proto.DataReply:
		return appendStat(appendBuffer(dst, b.Data), b.Stat)
	case proto.ChildrenReply:
		return appendNames(dst, b.Names)
	case proto.ChildrenStatReply:
		return appendStat(appendNames(dst, b.Names), b.Stat)
	case proto.ACLReply:
		return appendStat(appendACLs(dst, b.ACL), b.Stat)
	case proto.MultiReply:
		return appendMultiReply(dst, b)
	}
	panic(fmt.Sprintf("wire: no encoding for reply %T", body))
}

// appendNames writes a child list, which is never null on the wire.
func appendNames(dst []byte, names []string) []byte {
	if names == nil {
		names = []string{}
	}
	return appendStrings(dst, names)
}
