package wire

import "github.com/zksim/zksim/fakezk/internal/proto"

// DecodeHeader splits a request's payload into its header and its body. The
// body is part of frame, not a copy: it is for [DecodeRequest]. A payload
// shorter than 8 bytes is malformed; a server closes the connection.
func DecodeHeader(frame []byte) (h proto.RequestHeader, body []byte, err error) {
	r := reader{rest: frame}
	h.Xid = r.int32("header.xid")
	h.Op = proto.OpCode(r.int32("header.type"))
	if r.err != nil {
		return proto.RequestHeader{}, nil, r.err
	}
	return h, r.rest, nil
}

// DecodeReplyHeader splits a reply's payload into its header and its body, for
// [DecodeReply] or, with xid -1, for [DecodeEvent]. The body is part of frame.
func DecodeReplyHeader(frame []byte) (h proto.ReplyHeader, body []byte, err error) {
	r := reader{rest: frame}
	h.Xid = r.int32("header.xid")
	h.Zxid = r.int64("header.zxid")
	h.Err = proto.ErrCode(r.int32("header.err"))
	if r.err != nil {
		return proto.ReplyHeader{}, nil, r.err
	}
	return h, r.rest, nil
}

func appendReplyHeader(dst []byte, h proto.ReplyHeader) []byte {
	dst = appendInt32(dst, h.Xid)
	dst = appendInt64(dst, h.Zxid)
	return appendInt32(dst, int32(h.Err))
}
