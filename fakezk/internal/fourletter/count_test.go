package fourletter_test

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

func TestCountAllocatesNothing(t *testing.T) {
	for _, req := range []proto.Request{
		&proto.GetData{Path: "/node"}, &proto.Simple{Code: proto.OpPing},
		&proto.SetData{Path: "/node", Data: []byte("data"), Version: -1},
	} {
		traffic, frame, reaction := countedReaction(t, req)
		if n := testing.AllocsPerRun(100, func() { traffic.Count(len(frame), &reaction) }); n > 0 {
			t.Errorf("%s: %v allocations", req.Op(), n)
		}
	}
}

// countedReaction returns counters, the frame of a request and the reaction to it, which is
// counted once already.
func countedReaction(
	tb testing.TB, req proto.Request,
) (*fourletter.Traffic, []byte, engine.Reaction) {
	tb.Helper()
	var traffic fourletter.Traffic
	e := engine.New(engine.Config{
		TickTime:          2 * time.Second,
		MinSessionTimeout: 4 * time.Second, MaxSessionTimeout: 40 * time.Second,
		Observe: func(frameBytes int, r engine.Reaction) { traffic.Count(frameBytes, &r) },
	}, start)
	e.Open(1, 0, "127.0.0.1", start)
	e.Handle(1, wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 10_000})[4:], start)
	e.Handle(1, wire.AppendRequest(nil, 1, create("/node", "", 0))[4:], start)
	frame := wire.AppendRequest(nil, 1, req)[4:]
	reaction := e.Handle(1, frame, start)
	if reaction.Request.Err != proto.OK {
		tb.Fatal(reaction.Request.Err)
	}
	return &traffic, frame, reaction
}
