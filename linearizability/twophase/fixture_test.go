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

var notation = judgingtest.Notation{Dir: "/t/t1", Phrases: map[string]string{
	"begins":   "begin(t1 a,b {words}) creates . ok",
	"votes":    "vote(t1 {client} {words}) creates vote-{client}={words} ok",
	"decides":  "creates decision={words}",
	"learns":   "await(t1) -> {words}",
	"finishes": "done(t1 {client}) creates done-{client} ok",
	"forgets":  "forget(t1) deletes {words} ok",
}}

func (f *fixture) Plays(steps string) { f.Play(notation, steps) }
