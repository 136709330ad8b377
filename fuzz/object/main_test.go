package object_test

import (
	"flag"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
)

var update = flag.Bool("update", false, "write the expected results of testdata anew")

var (
	builtin = fuzztest.Builtin
	run     = fuzztest.Run
	plan    = fuzztest.Plan
)

func TestMain(m *testing.M) { fuzztest.Main(m) }
