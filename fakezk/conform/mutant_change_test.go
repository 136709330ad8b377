package conform

import (
	"bytes"
	"encoding/binary"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// each gives every connection the same mutation, which must keep no state.
func each(m mutation) fault { return func(c *mutantConn) { c.change = m } }

// ofReply changes the header and the body of replies that can be decoded.
func ofReply(change func(h *proto.ReplyHeader, r proto.Reply) proto.Reply) mutation {
	return func(op proto.OpCode, p []byte) [][]byte {
		h, body, err := wire.DecodeReplyHeader(p)
		if err != nil || op == opEvent || op == opConnect {
			return [][]byte{p}
		}
		if h.Err != proto.OK || len(body) == 0 {
			change(&h, nil)
			return [][]byte{append(wire.AppendReply(nil, h, nil)[4:], body...)}
		}
		reply, err := wire.DecodeReply(op, body)
		if err != nil {
			return [][]byte{p}
		}
		reply = change(&h, reply)
		return [][]byte{wire.AppendReply(nil, h, reply)[4:]}
	}
}

// ofType changes the bodies of one type, which are values.
func ofType[R proto.Reply](change func(*R)) mutation {
	return ofReply(func(_ *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if body, ok := r.(R); ok {
			change(&body)
			return body
		}
		return r
	})
}

// ofErr changes the headers of the replies with one error.
func ofErr(err proto.ErrCode, change func(h *proto.ReplyHeader)) mutation {
	return ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		if h.Err == err {
			change(h)
		}
		return r
	})
}

// ofOp changes the headers of the replies to one operation.
func ofOp(op proto.OpCode, change func(h *proto.ReplyHeader)) mutation {
	inner := ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		change(h)
		return r
	})
	return func(got proto.OpCode, p []byte) [][]byte {
		if got != op {
			return [][]byte{p}
		}
		return inner(got, p)
	}
}

// ofEvent changes the events of one type.
func ofEvent(kind proto.EventType, change func(p []byte) [][]byte) mutation {
	return func(op proto.OpCode, p []byte) [][]byte {
		if op == opEvent && proto.EventType(binary.BigEndian.Uint32(p[16:])) == kind {
			return change(p)
		}
		return [][]byte{p}
	}
}

// ofStat changes all stats except in multis.
func ofStat(change func(*proto.Stat)) mutation {
	return ofReply(func(h *proto.ReplyHeader, r proto.Reply) proto.Reply {
		switch r := r.(type) {
		case proto.StatReply:
			change(&r.Stat)
			return r
		case proto.PathStatReply:
			change(&r.Stat)
			return r
		case proto.DataReply:
			change(&r.Stat)
			return r
		case proto.ChildrenStatReply:
			change(&r.Stat)
			return r
		case proto.ACLReply:
			change(&r.Stat)
			return r
		}
		return r
	})
}

// lateEvents keeps events until the next reply.
func lateEvents() mutation {
	var kept [][]byte
	return func(op proto.OpCode, p []byte) [][]byte {
		if op == opEvent {
			kept = append(kept, p)
			return nil
		}
		frames := append([][]byte{p}, kept...)
		kept = nil
		return frames
	}
}

// replaced returns a copy of p with other bytes at an offset.
func replaced(p []byte, at int, with []byte) []byte {
	p = bytes.Clone(p)
	copy(p[at:], with)
	return p
}
