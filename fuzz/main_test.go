package fuzz_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
)

func TestMain(m *testing.M) { fuzztest.Main(m) }
