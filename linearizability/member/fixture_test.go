package member

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

var notation = judgingtest.Notation{Dir: "/m", Sessions: true, Phrases: map[string]string{
	"joins":      "join({words}) owns {words} ok",
	"leaves":     "leave({words}) deletes {words}!1 ok",
	"sees":       "view() -> {words}",
	"seesNobody": "view() empty",
}}

func (f *fixture) Plays(steps string) { f.Play(notation, steps) }
