package judging

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
)

func TestSummariesRoundDurations(t *testing.T) {
	v := Violated(lin.Liveness, nil, "after %v of %d", 1234567890*time.Nanosecond, 3)
	check.Equal(t, v.Summary, "after 1.235s of 3")
}
