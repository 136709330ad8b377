package realworld_test

import (
	"testing"

	"github.com/zksim/zksim/internal/testrun"
)

func TestMain(m *testing.M) { testrun.MainThatWaits(m) }
