package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestSummariesRoundDurations(t *testing.T) {
	v := violated(Liveness, nil, "after %v of %d", 1234567890*time.Nanosecond, 3)
	check.Equal(t, v.Summary, "after 1.235s of 3")
}
