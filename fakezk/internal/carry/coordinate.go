package carry

import (
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// Armed is a fault that is armed and how far it has come.
type Armed struct {
	fault.Fault
	Seen  int // coordinates that matched, up to the one whose turn it was
	Fired bool
}

// Due counts one coordinate for every fault that selects it and returns those
// whose turn it is.
func Due(faults []*Armed, c fault.Coordinate) []*Armed {
	var now []*Armed
	for _, f := range faults {
		if f.TurnHasCome() || !f.Selects(c) {
			continue
		}
		f.Seen++
		if f.TurnHasCome() {
			now = append(now, f)
		}
	}
	return now
}

// TurnHasCome says that no further coordinate matters, as for a fault bound to a
// time, for which none does.
func (f *Armed) TurnHasCome() bool {
	return f.Seen == f.Request+f.Event // one of them is zero
}

// RequestCoordinate says what a frame after the handshake is as a coordinate.
// Pings, and what is too short to be a request, are none.
func RequestCoordinate(client string, conn int, frame []byte) (fault.Coordinate, bool) {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil || h.Op == proto.OpPing {
		return fault.Coordinate{}, false
	}
	return fault.Coordinate{Client: client, Conn: conn, Op: h.Op.String(), Path: requestPath(h.Op, body)}, true
}

func requestPath(op proto.OpCode, body []byte) string {
	req, err := wire.DecodeRequest(op, body)
	if err != nil {
		return ""
	}
	return proto.PathOf(req)
}

// DamagesReply says that a fault of this kind lets the request be applied and
// then does something to what comes back.
func DamagesReply(k fault.Kind) bool {
	return slices.Contains([]fault.Kind{fault.DropReply, fault.Cut, fault.CutMidFrame, fault.StallMidFrame}, k)
}

// A damage is what a fault that damages the reply does to one output on the
// request's connection.
type damage int

const (
	Unharmed damage = iota
	Lost
	Torn // only half of it arrives now
)

// DamageTo tells how a fault of this kind harms an output. An event that the
// request caused is lost with the reply or passes whole; the end of the
// connection is lost where a reset takes its place.
func DamageTo(k fault.Kind, out engine.Output) damage {
	switch {
	case k == fault.DropReply:
		return Lost
	case out.Close && k != fault.StallMidFrame:
		return Lost
	case k == fault.Cut || out.Event != nil || out.Frame == nil:
		return Unharmed
	}
	return Torn
}
