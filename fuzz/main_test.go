package fuzz_test

import (
	"flag"
	"runtime/debug"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
)

var update = flag.Bool("update", false, "write the expected results of testdata anew")

var (
	builtin = fuzztest.Builtin
	run     = fuzztest.Run
	plan    = fuzztest.Plan
)

// TestMain lets garbage grow, as the command does: each connection of the client
// takes megabytes, and collecting them is half of a run.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
