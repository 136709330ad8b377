package scenario_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/internal/testrun"
)

var (
	run  = fuzztest.Run
	plan = fuzztest.Plan
)

func TestMain(m *testing.M) { testrun.Main(m) }
