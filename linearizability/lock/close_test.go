package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestCloseEndsHolds: a close releases everything that its client holds. One that runs at a grant
// may end the hold at once; one that has returned may not.
func TestCloseEndsHolds(t *testing.T) {
	claims := Claims{Path: "/lock", Signals: true}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "releases",
			Steps: "a starts; b starts; a locks a-1; a close(); a told lost; a deletes a-1; " +
				"a ok; b locks b-2; b unlocks b-2"},
		{Name: "releases nothing", Bad: lin.Safety,
			Steps: "a starts; b starts; a locks a-1; a close(); a told lost; a ok; b locks b-2; " +
				"b unlocks b-2"},
		{Name: "ends a hold from the grant on",
			Steps: "a starts; a lock(); a close(); a owns a-1; a lock ok; a told lost; " +
				"a deletes a-1; a close ok"},
		{Name: "had returned at the grant", Bad: lin.Belief,
			Says: "a was told at step 7 that it had lost the lock, but its znode",
			Steps: "a starts; a lock(); a close(); a owns a-1; a ok@0#0; a lock ok; " +
				"a told lost; a deletes a-1"},
	})
}
