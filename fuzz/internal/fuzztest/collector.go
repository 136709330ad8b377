package fuzztest

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/zksim/zksim/internal/ballast"
)

// CollectLikeUsers gives a benchmark the collector that a test of a user has, who sets nothing. The
// tests of this module let more garbage gather.
func CollectLikeUsers(b *testing.B) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	release := ballast.Hold()
	b.Cleanup(func() {
		release()
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
