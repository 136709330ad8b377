package queue

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestMain(m *testing.M) { judgingtest.Main(m) }

// fixture makes histories of calls on the objects of this package.
type fixture struct{ judgingtest.Fixture }

type historyTest[C any] judgingtest.HistoryTest[fixture, C]

// claimTest is a historyTest of claims without options.
type claimTest = historyTest[struct{}]

type mutation judgingtest.Mutation

var notation = judgingtest.Notation{Dir: "/q", Phrases: map[string]string{
	"offers":  "offer({words}) creates {name}={name} ok",
	"puts":    "offer({rest}) creates {words} ok",
	"takes":   "take() deletes {words} -> {words}",
	"gets":    "take() owns {words}-lock=guid -> {words}",
	"acks":    "ack({words}) deletes {words} deletes {words}-lock ok",
	"removes": "take() deletes {name} -> {rest}",
}}

func (f *fixture) Plays(steps string) { f.Play(notation, steps) }

// played is the history of some steps.
func played(steps string) lin.History {
	f := &fixture{}
	f.Plays(steps)
	return f.History()
}
