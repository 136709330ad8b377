package engine

import (
	"errors"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// refuseFrame answers a request that cannot be decoded: it refuses an unknown
// operation and closes the connection; it only refuses a malformed body.
func (x *exchange) refuseFrame(err error) {
	if errors.Is(err, wire.ErrUnknownOp) {
		x.r.Err, x.r.Zxid = proto.Unimplemented, -1
		x.c.reply(&x.r)
		x.c.hangUp()
		return
	}
	x.r.Err = proto.MarshallingError
	if drawsZxidFirst(x.r.Header.Op) {
		marks.Hit("malformed write")
		x.apply(x.leader().PrepareMalformed(x.r.Header.Op, x.r.Session, x.now))
	}
	x.r.Zxid = x.c.at.store.LastZxid()
	x.finish()
}

// drawsZxidFirst reports whether a request consumes a zxid before its body is decoded.
// A reconfig is decoded first.
func drawsZxidFirst(op proto.OpCode) bool {
	return op.IsWrite() && op != proto.OpReconfig || op == proto.OpCreateSession
}

// refuse answers with the refusal, and does nothing else.
func (x *exchange) refuse() {
	x.r.Err, x.r.Zxid = x.refusal, x.c.at.store.LastZxid()
	x.finish()
}
