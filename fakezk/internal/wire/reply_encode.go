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
		return appendText(dst, b.Path)
	case proto.PathStatReply:
		return appendStat(appendText(dst, b.Path), b.Stat)
	case proto.StatReply:
		return appendStat(dst, b.Stat)
	case proto.DataReply:
		return appendStat(appendBuffer(dst, b.Data), b.Stat)
	case proto.ChildrenReply:
		return appendNames(dst, b.Names)
	case proto.ChildrenStatReply:
		return appendStat(appendNames(dst, b.Names), b.Stat)
	case proto.ACLReply:
		return appendStat(appendACLs(dst, b.ACL, appendText), b.Stat)
	case proto.MultiReply:
		return appendMultiReply(dst, b)
	case proto.ErrReply:
		return appendInt32(dst, int32(b.Err))
	case proto.EphemeralsReply:
		return appendNames(dst, b.Paths)
	case proto.CountReply:
		return appendInt32(dst, b.Number)
	case proto.WhoAmIReply:
		return appendIDs(dst, b.IDs)
	case proto.SaslReply:
		return appendBuffer(dst, b.Token)
	}
	panic(fmt.Sprintf("wire: no encoding for reply %T", body))
}

func appendIDs(dst []byte, ids []proto.ID) []byte {
	dst = appendInt32(dst, int32(len(ids)))
	for _, id := range ids {
		dst = appendText(appendText(dst, id.Scheme), id.ID)
	}
	return dst
}

// appendNames writes a child list, which is never null on the wire.
func appendNames(dst []byte, names []string) []byte {
	if names == nil {
		names = []string{}
	}
	return appendStrings(dst, names)
}
