package fuzz_test

import (
	"testing"

	"github.com/zksim/zksim/internal/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m) }
