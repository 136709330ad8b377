package barrier

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

var notation = judgingtest.Notation{Phrases: map[string]string{
	"raises": "set() creates /b ok",
	"lowers": "remove() deletes /b ok",
	"sets":   "set({words}) stores /t={words} ok",
}}

func (f *fixture) Plays(steps string) { f.Play(notation, steps) }
