package conform

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/testrun"
)

func TestMain(m *testing.M) { testrun.MainThatWaits(m) }

// inVirtualTime runs a test of servers in memory in virtual time, in which no patience takes long.
// A bubble begins in the year 2000, when there was no ZooKeeper: the test begins ten years later.
func inVirtualTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(10 * 365 * 24 * time.Hour)
		test(t)
	})
}
