package queue

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestTakesThatWaitTooLongAreFound: a take waits although an element is there, and returns late.
func TestTakesThatWaitTooLongAreFound(t *testing.T) {
	claims := Claims{Path: "/q", Patience: 50 * time.Millisecond}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "late", Bad: lin.Liveness,
			Says: "waited although element x, which it took in the end, had been in the queue " +
				"for 62ms", Steps: "b take(); a offers x; pass 60; b deletes x; b -> x; rest"},
		{Name: "quick", Steps: "b take(); a offers x; pass 40; b deletes x; b -> x; rest"},
		{Name: "its client was told of a loss",
			Steps: "b take(); a offers x; pass 60; b told disconnected; b deletes x; b -> x; rest"},
	})
}

func TestTakerCutOffMayBeLate(t *testing.T) {
	judgingtest.CheckLateness(t, func(notices []lin.Notice) lin.Report {
		h := played("a offers x; b take(); pass 97; b failed")
		h.Notices = notices
		return judgingtest.Judge(h, nil, Claims{Path: "/q", Patience: 50 * time.Millisecond})
	})
}
