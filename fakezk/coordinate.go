package fakezk

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// faultState is a fault that is armed and how far it has come.
type faultState struct {
	Fault
	seen  int // coordinates that matched, up to the one whose turn it was
	fired bool
}

// A coordinate is one request, or one notification, that faults may select.
type coordinate struct {
	event    bool
	client   string
	conn     int
	op, path string
}

// due counts one coordinate for every fault that selects it and returns those
// whose turn it is.
func due(faults []*faultState, c coordinate) []*faultState {
	var now []*faultState
	for _, f := range faults {
		if f.turnHasCome() || !f.selects(c) {
			continue
		}
		f.seen++
		if f.turnHasCome() {
			now = append(now, f)
		}
	}
	return now
}

// turnHasCome says that no further coordinate matters, as for a fault bound to a
// time, for which none does.
func (f *faultState) turnHasCome() bool {
	return f.seen == f.Request+f.Event // one of them is zero
}

func (f Fault) selects(c coordinate) bool {
	return (f.Event != 0) == c.event && (f.Client == "" || f.Client == c.client) &&
		(f.Conn == 0 || f.Conn == c.conn) && (f.Op == "" || f.Op == c.op) && matchPath(f.Path, c.path)
}

// requestCoordinate says what a frame after the handshake is as a coordinate.
// Pings, and what is too short to be a request, are none.
func requestCoordinate(client string, conn int, frame []byte) (coordinate, bool) {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil || h.Op == proto.OpPing {
		return coordinate{}, false
	}
	return coordinate{client: client, conn: conn, op: h.Op.String(), path: requestPath(h.Op, body)}, true
}

func requestPath(op proto.OpCode, body []byte) string {
	req, err := wire.DecodeRequest(op, body)
	if err != nil {
		return ""
	}
	return pathOf(req)
}

// pathOf is the path that a request is about; for a multi, that of its first operation.
func pathOf(req proto.Request) string {
	switch r := req.(type) {
	case *proto.Create:
		return r.Path
	case *proto.Delete:
		return r.Path
	case *proto.DeleteContainer:
		return r.Path
	case *proto.Exists:
		return r.Path
	case *proto.GetData:
		return r.Path
	case *proto.SetData:
		return r.Path
	case *proto.GetACL:
		return r.Path
	case *proto.SetACL:
		return r.Path
	case *proto.GetChildren:
		return r.Path
	case *proto.GetAllChildrenNumber:
		return r.Path
	case *proto.GetEphemerals:
		return r.Prefix
	case *proto.Sync:
		return r.Path
	case *proto.Check:
		return r.Path
	case *proto.AddWatch:
		return r.Path
	case *proto.Watches:
		return r.Path
	case *proto.Multi:
		return pathOfFirst(r.Ops)
	case *proto.MultiRead:
		return pathOfFirst(r.Ops)
	}
	return ""
}

func pathOfFirst(ops []proto.Request) string {
	if len(ops) == 0 {
		return ""
	}
	return pathOf(ops[0])
}

// damagesReply says that a fault of this kind lets the request be applied and
// then does something to what comes back.
func (k FaultKind) damagesReply() bool {
	return slices.Contains([]FaultKind{DropReply, Cut, CutMidFrame, StallMidFrame}, k)
}

// A damage is what a fault that damages the reply does to one output on the
// request's connection.
type damage int

const (
	unharmed damage = iota
	lost
	torn // only half of it arrives now
)

// damageTo tells how a fault of this kind harms an output. An event that the
// request caused is lost with the reply or passes whole; the end of the
// connection is lost where a reset takes its place.
func (k FaultKind) damageTo(out engine.Output) damage {
	switch {
	case k == DropReply:
		return lost
	case out.Close && k != StallMidFrame:
		return lost
	case k == Cut || out.Event != nil || out.Frame == nil:
		return unharmed
	}
	return torn
}
