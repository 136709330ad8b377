package twophase

import (
	"testing"

	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestMain(m *testing.M) { judgingtest.Main(m) }

// fixture makes histories of calls on the objects of this package.
type fixture struct{ judgingtest.Fixture }

type historyTest[C any] judgingtest.HistoryTest[fixture, C]

// claimTest is a historyTest of claims without options.
type claimTest = historyTest[struct{}]

type mutation judgingtest.Mutation
