package saved_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
)

var (
	builtin = fuzztest.Builtin
	run     = fuzztest.Run
	plan    = fuzztest.Plan
)

func TestMain(m *testing.M) { fuzztest.Main(m) }
