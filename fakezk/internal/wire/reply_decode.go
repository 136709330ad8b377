package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A replyDecoder reads the body of a successful reply to one operation.
type replyDecoder func(r *reader) proto.Reply

var replyDecoders = map[proto.OpCode]replyDecoder{
	proto.OpCreate:               decodePathReply,
	proto.OpCreate2:              decodePathStatReply,
	proto.OpCreateContainer:      decodePathStatReply,
	proto.OpCreateTTL:            decodePathStatReply,
	proto.OpDelete:               decodeNoReply,
	proto.OpExists:               decodeStatReply,
	proto.OpGetData:              decodeDataReply,
	proto.OpGetChildren:          decodeChildrenReply,
	proto.OpGetChildren2:         decodeChildrenStatReply,
	proto.OpSetData:              decodeStatReply,
	proto.OpGetACL:               decodeACLReply,
	proto.OpSetACL:               decodeStatReply,
	proto.OpSync:                 decodePathReply,
	proto.OpCheck:                decodeNoReply,
	proto.OpMulti:                decodeMultiReply,
	proto.OpAuth:                 decodeNoReply,
	proto.OpSetWatches:           decodeNoReply,
	proto.OpReconfig:             decodeDataReply,
	proto.OpMultiRead:            decodeMultiReply,
	proto.OpSetWatches2:          decodeNoReply,
	proto.OpAddWatch:             decodeErrReply,
	proto.OpCheckWatches:         decodeNoReply,
	proto.OpRemoveWatches:        decodeNoReply,
	proto.OpGetEphemerals:        decodeEphemeralsReply,
	proto.OpGetAllChildrenNumber: decodeCountReply,
	proto.OpWhoAmI:               decodeWhoAmIReply,
	proto.OpSasl:                 decodeSaslReply,
	proto.OpDeleteContainer:      decodeNoReply,
	// the server sends a ConnectResponse without a header
	proto.OpCreateSession: decodeNoReply,
	proto.OpPing:          decodeNoReply,
	proto.OpCloseSession:  decodeNoReply,
}

// DecodeReply decodes the body of a successful reply (err 0 in its header); op is the
// operation of the request. The reply is nil if the operation has none. The error wraps
// [ErrUnknownOp] or [ErrMalformed].
func DecodeReply(op proto.OpCode, body []byte) (proto.Reply, error) {
	decode, ok := replyDecoders[op]
	if !ok {
		return nil, fmt.Errorf("%w %d", ErrUnknownOp, int32(op))
	}
	r := reader{rest: body, fromServer: true}
	reply := decode(&r)
	if r.err != nil {
		return nil, fmt.Errorf("reply to %s: %w", op, r.err)
	}
	return reply, nil
}

func decodeNoReply(*reader) proto.Reply { return nil }

func decodePathReply(r *reader) proto.Reply {
	return proto.PathReply{Path: r.path()}
}

func decodePathStatReply(r *reader) proto.Reply {
	return proto.PathStatReply{Path: r.path(), Stat: r.stat()}
}

func decodeStatReply(r *reader) proto.Reply {
	return proto.StatReply{Stat: r.stat()}
}

func decodeDataReply(r *reader) proto.Reply {
	return proto.DataReply{Data: r.buffer("data"), Stat: r.stat()}
}

func decodeChildrenReply(r *reader) proto.Reply {
	return proto.ChildrenReply{Names: r.strings("children")}
}

func decodeChildrenStatReply(r *reader) proto.Reply {
	return proto.ChildrenStatReply{Names: r.strings("children"), Stat: r.stat()}
}

func decodeACLReply(r *reader) proto.Reply {
	return proto.ACLReply{ACL: r.acls(), Stat: r.stat()}
}

func decodeErrReply(r *reader) proto.Reply {
	return proto.ErrReply{Err: proto.ErrCode(r.int32("err"))}
}

func decodeEphemeralsReply(r *reader) proto.Reply {
	return proto.EphemeralsReply{Paths: r.strings("ephemerals")}
}

func decodeCountReply(r *reader) proto.Reply {
	return proto.CountReply{Number: r.int32("totalNumber")}
}

func decodeSaslReply(r *reader) proto.Reply {
	return proto.SaslReply{Token: r.buffer("token")}
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
