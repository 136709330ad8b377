package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// unnamed are the operations that the four-letter words show as NA, or not by a name alone.
var unnamed = []proto.OpCode{proto.OpCloseSession, proto.OpReconfig, proto.OpDeleteContainer,
	proto.OpAuth, proto.OpSasl}

// TestEveryOperationIsAnswered: a request that wire decodes has a case in read.go, or in step of
// package state, and a name in the four-letter words.
func TestEveryOperationIsAnswered(t *testing.T) {
	for op := proto.OpCode(-20); op < 200; op++ {
		req, err := wire.DecodeRequest(op, make([]byte, 100))
		if err != nil {
			continue // unknown, or a multi, which needs an operation
		}
		t.Run(op.String(), func(t *testing.T) {
			b := newBench(t, nil)
			b.ask(b.connect(4*time.Second), req) // panics if there is no case
		})
		if _, ok := abbreviations[op]; !ok && !slices.Contains(unnamed, op) {
			t.Errorf("%s has no abbreviation in stats.go", op)
		}
	}
}
