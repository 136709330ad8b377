package realworld

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A request that a fault refuses does not go to the server. A read that changes nothing stands in
// for it: so the session is heard of, and the answer has the server's zxid and its place among the
// others. The client gets the error with them.

// standIn is the packet that the server gets in place of a request.
func (r guestRoot) standIn(q *request) []byte {
	return wire.AppendRequest(nil, q.Header.Xid, &proto.Exists{Path: r.inside("/")})
}

// refused is a packet of the server, with the error in place of the answer to a stand-in.
func (l *link) refused(packet []byte) []byte {
	h, _, err := wire.DecodeReplyHeader(packet[4:])
	if err != nil || l.session == 0 {
		return packet
	}
	i := slices.IndexFunc(l.waiting, func(q *request) bool { return q.answeredBy(h) })
	if i < 0 || l.waiting[i].refusal == proto.OK {
		return packet
	}
	h.Err = l.waiting[i].refusal
	return wire.AppendReply(nil, h, nil)
}
