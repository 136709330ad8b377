package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// DecodeReply decodes the body of a successful reply (err 0 in its header); op is the
// operation of the request. The reply is nil if the operation has none. The error wraps
// [ErrUnknownOp] or [ErrMalformed].
func DecodeReply(op proto.OpCode, body []byte) (proto.Reply, error) {
	r := reader{rest: body, fromServer: true}
	reply, known := decodeReply(&r, op)
	switch {
	case !known:
		return nil, fmt.Errorf("%w %d", ErrUnknownOp, int32(op))
	case r.err != nil:
		return nil, fmt.Errorf("reply to %s: %w", op, r.err)
	}
	return reply, nil
}

// decodeReply returns false for an operation that has no reply with a header. The fields of a
// literal are read in the order in which they are written.
func decodeReply(r *reader, op proto.OpCode) (reply proto.Reply, known bool) {
	switch op {
	case proto.OpCreate, proto.OpSync:
		return proto.PathReply{Path: r.path()}, true
	case proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL:
		return proto.PathStatReply{Path: r.path(), Stat: r.stat()}, true
	case proto.OpExists, proto.OpSetData, proto.OpSetACL:
		return proto.StatReply{Stat: r.stat()}, true
	case proto.OpGetData, proto.OpReconfig:
		return proto.DataReply{Data: r.buffer("data"), Stat: r.stat()}, true
	case proto.OpGetChildren:
		return proto.ChildrenReply{Names: r.strings("children")}, true
	case proto.OpGetChildren2:
		return proto.ChildrenStatReply{Names: r.strings("children"), Stat: r.stat()}, true
	case proto.OpGetACL:
		return proto.ACLReply{ACL: r.acls(), Stat: r.stat()}, true
	case proto.OpMulti, proto.OpMultiRead:
		return decodeMultiReply(r), true
	case proto.OpAddWatch:
		return proto.ErrReply{Err: proto.ErrCode(r.int32("err"))}, true
	case proto.OpGetEphemerals:
		return proto.EphemeralsReply{Paths: r.strings("ephemerals")}, true
	case proto.OpGetAllChildrenNumber:
		return proto.CountReply{Number: r.int32("totalNumber")}, true
	case proto.OpWhoAmI:
		return decodeWhoAmIReply(r), true
	case proto.OpSasl:
		return proto.SaslReply{Token: r.buffer("token")}, true
	case proto.OpDelete, proto.OpCheck, proto.OpAuth, proto.OpSetWatches, proto.OpSetWatches2,
		proto.OpCheckWatches, proto.OpRemoveWatches, proto.OpDeleteContainer, proto.OpPing,
		proto.OpCloseSession, proto.OpCreateSession: // its ConnectResponse has no header
		return nil, true
	}
	return nil, false
}

func decodeWhoAmIReply(r *reader) proto.Reply {
	n, _ := r.count("clientInfo", 8)
	ids := make([]proto.ID, 0, n)
	for range n {
		ids = append(ids, proto.ID{
			Scheme: r.string("clientInfo.authScheme"), ID: r.string("clientInfo.user"),
		})
	}
	return proto.WhoAmIReply{IDs: ids}
}
