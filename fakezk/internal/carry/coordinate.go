package carry

import (
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// requestCoordinate says what a frame after the handshake is as a coordinate.
// Pings, and what is too short to be a request, are none.
func requestCoordinate(client string, conn int, frame []byte) (fault.Coordinate, bool) {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil || h.Op == proto.OpPing {
		return fault.Coordinate{}, false
	}
	return fault.Coordinate{Client: client, Conn: conn, Op: h.Op.String(),
		Path: requestPath(h.Op, body)}, true
}

func requestPath(op proto.OpCode, body []byte) string {
	req, err := wire.DecodeRequest(op, body)
	if err != nil {
		return ""
	}
	return proto.PathOf(req)
}
