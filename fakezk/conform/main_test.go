package conform

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/testrun"
)

func TestMain(m *testing.M) { testrun.MainThatWaits(m) }

// inVirtualTime runs a test of servers in memory in virtual time, in which no patience takes long.
func inVirtualTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inYearOfZooKeeper()
		test(t)
	})
}

// inYearOfZooKeeper leaves the year 2000, in which a bubble begins and there was no ZooKeeper.
func inYearOfZooKeeper() { time.Sleep(10 * 365 * 24 * time.Hour) }
