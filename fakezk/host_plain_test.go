//go:build !zksim_overlay

package fakezk

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestHostNeedsTheOverlay(t *testing.T) {
	said := (&testRecord{}).play(func(t TB) { Start(t).Host(t, "zk1.prod.example:2181") })
	check.Contains(t, said, "zksim go test", "the remedy")
}
