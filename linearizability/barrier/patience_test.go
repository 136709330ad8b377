package barrier

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestWaitsThatPassTooLateAreFound: a wait goes on although the barrier is down, and returns late.
func TestWaitsThatPassTooLateAreFound(t *testing.T) {
	claims := Claims{Path: "/b", Patience: 50 * time.Millisecond}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "late", Bad: lin.Liveness, Says: "went on although the barrier was down for 62ms",
			Steps: "a raises; b wait(); a lowers; pass 60; b ok; rest"},
		{Name: "quick", Steps: "a raises; b wait(); a lowers; pass 40; b ok; rest"},
		{Name: "its client was told of a loss",
			Steps: "a raises; b wait(); a lowers; pass 60; b told disconnected; b ok; rest"},
	})
}

// TestWaitsThatMissARemoval begin before it and end after it. The barrier is set again at once.
func TestWaitsThatMissARemoval(t *testing.T) {
	claims := Claims{Path: "/b", AllPass: 50 * time.Millisecond, AllowedAtRest: []string{"/b"}}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "misses a removal", Bad: lin.Liveness,
			Says: "b waited from step 4 on, and did not pass when the barrier was removed at " +
				"step 66",
			Steps: "a raises; b wait(); pass 60; a lowers; a raises; pass 60; b ok; rest"},
		{Name: "has just begun",
			Steps: "a raises; b wait(); pass 20; a lowers; a raises; pass 60; b ok; rest"},
		{Name: "ends soon",
			Steps: "a raises; b wait(); pass 60; a lowers; a raises; pass 20; b ok; rest"},
	})
}

func TestWaiterCutOffMayBeLate(t *testing.T) {
	judgingtest.CheckLateness(t, func(notices []lin.Notice) lin.Report {
		f := &fixture{}
		f.H.Notices = notices
		f.Plays("a sets 2; a wait(); b wait(); pass 96; a unknown; b unknown; rest")
		return judgingtest.Judge(f.History(), f.Left, thresholdAtT)
	})
}
