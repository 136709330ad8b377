package wire

import "github.com/zksim/zksim/fakezk/internal/proto"

// A multi is a list of records, each behind a MultiHeader {type, done, err}; a
// header with done set ends it.

// inMulti reports whether a multi with this operation can be decoded. A multi of reads
// can be, although the server then refuses it; one with setACL or exists cannot.
func inMulti(op proto.OpCode) bool {
	switch op {
	case proto.OpGetData, proto.OpGetChildren,
		proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL,
		proto.OpDelete, proto.OpSetData, proto.OpCheck:
		return true
	}
	return false
}

// isRead separates reads from writes; one multi cannot hold both.
func isRead(op proto.OpCode) bool {
	return op == proto.OpGetData || op == proto.OpGetChildren
}

type multiHeader struct {
	op   proto.OpCode
	done bool
	err  proto.ErrCode
}

var multiEnd = multiHeader{op: -1, done: true, err: -1}

func (r *reader) multiHeader() multiHeader {
	var h multiHeader
	h.op = proto.OpCode(r.int32("multi.type"))
	h.done = r.bool("multi.done")
	h.err = proto.ErrCode(r.int32("multi.err"))
	return h
}

func appendMultiHeader(dst []byte, h multiHeader) []byte {
	dst = appendInt32(dst, int32(h.op))
	dst = appendBool(dst, h.done)
	return appendInt32(dst, int32(h.err))
}

func decodeOps(r *reader) []proto.Request {
	var ops []proto.Request
	for h := r.multiHeader(); r.err == nil && !h.done; h = r.multiHeader() {
		if !inMulti(h.op) {
			r.fail("multi.type", "%s is not allowed in a multi", h.op)
			break
		}
		if len(ops) > 0 && isRead(h.op) != isRead(ops[0].Op()) {
			r.fail("multi.type", "%s is mixed with %s", h.op, ops[0].Op())
			break
		}
		ops = append(ops, decodeRequest(r, h.op))
	}
	return ops
}

func appendOps(dst []byte, ops []proto.Request) []byte {
	for _, req := range ops {
		dst = appendMultiHeader(dst, multiHeader{op: req.Op(), err: -1})
		dst = appendRequestBody(dst, req)
	}
	return appendMultiHeader(dst, multiEnd)
}

// appendMultiReply writes the results. In a failed multi every result is an error;
// that of an operation before the failed one has err 0.
func appendMultiReply(dst []byte, m proto.MultiReply) []byte {
	for _, res := range m.Results {
		dst = appendOpResult(dst, res)
	}
	return appendMultiHeader(dst, multiEnd)
}

// appendOpResult takes the operation code from the type of the reply, not from the
// request: the Java server answers a create2 in a multi as a create, and a
// createContainer or createTTL as a create2.
func appendOpResult(dst []byte, res proto.OpResult) []byte {
	if res.Op == proto.OpError || res.Err != proto.OK {
		dst = appendMultiHeader(dst, multiHeader{op: proto.OpError, err: res.Err})
		return appendInt32(dst, int32(res.Err))
	}
	op := res.Op
	switch res.Reply.(type) {
	case proto.PathReply:
		op = proto.OpCreate
	case proto.PathStatReply:
		op = proto.OpCreate2
	case proto.DataReply:
		op = proto.OpGetData
	case proto.ChildrenReply:
		op = proto.OpGetChildren
	}
	return appendReplyBody(appendMultiHeader(dst, multiHeader{op: op}), res.Reply)
}

func decodeMultiReply(r *reader) proto.Reply {
	m := proto.MultiReply{}
	for h := r.multiHeader(); r.err == nil && !h.done; h = r.multiHeader() {
		m.Results = append(m.Results, r.opResult(h))
	}
	return m
}

func (r *reader) opResult(h multiHeader) proto.OpResult {
	res := proto.OpResult{Op: h.op}
	switch h.op {
	case proto.OpError:
		res.Err = proto.ErrCode(r.int32("multi.result.err"))
	case proto.OpCreate, proto.OpCreate2, proto.OpSetData, proto.OpGetData, proto.OpGetChildren,
		proto.OpDelete, proto.OpCheck:
		res.Reply, _ = decodeReply(r, h.op)
	default:
		r.fail("multi.result.type", "%s", h.op)
	}
	return res
}
