package builtin_test

import (
	"flag"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/internal/testrun"
)

var update = flag.Bool("update", false, "write the expected results of testdata anew")

var (
	run  = fuzztest.Run
	plan = fuzztest.Plan
)

func TestMain(m *testing.M) { testrun.Main(m) }
