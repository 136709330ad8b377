package carry

import (
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// requestCoordinate returns the coordinate of a frame after the handshake. Pings, and frames too
// short for a request, have none.
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
