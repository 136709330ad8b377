package carry

import (
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// requestCoordinate returns the coordinate of a frame after the handshake. Pings, and frames too
// short for a request, have none.
func (c *Conn) requestCoordinate(frame []byte) (fault.Coordinate, bool) {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil || h.Op == proto.OpPing {
		return fault.Coordinate{}, false
	}
	point := c.coordinate()
	point.Op, point.Path = h.Op.String(), requestPath(h.Op, body)
	return point, true
}

// coordinate is the part of a coordinate that the connection determines.
func (c *Conn) coordinate() fault.Coordinate {
	return fault.Coordinate{Client: c.Client.Name, Conn: c.Number, Server: c.Server + 1}
}

func requestPath(op proto.OpCode, body []byte) string {
	req, err := wire.DecodeRequest(op, body)
	if err != nil {
		return ""
	}
	return proto.PathOf(req)
}
