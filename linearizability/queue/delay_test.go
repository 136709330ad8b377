package queue

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// A step of a fixture takes a millisecond.
func TestDelayQueue(t *testing.T) {
	put := func(f *fixture, value string, due time.Duration) {
		f.offers("a", value, Due(value, due*time.Millisecond))
	}
	gone := func(f *fixture, value string) { f.take("b", value); f.Left = &lin.Leftovers{} }
	patient := Claims{Patience: 5 * time.Millisecond}
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return Delay(q) }),
		[]queueTest{
			{Name: "in time", Build: func(f *fixture) {
				put(f, "x", 12) // steps 1 to 3
				put(f, "y", 11)
				f.finds("b", ops.Poll, "")
				f.finds("b", ops.Peek, "y") // returns at step 12
				f.take("b", "y")
				f.take("b", "x")
				f.Left = &lin.Leftovers{}
			}},
			{
				Name: "due at once", Build: func(f *fixture) {
					put(f, "x", 0)
					gone(f, "x")
				},
			},
			{Name: "too early", Bad: lin.Order,
				Says: "element x (due at 6ms) was removed at step 5, at 5ms: too early",
				Build: func(f *fixture) {
					put(f, "x", 6)
					gone(f, "x")
				}},
			{Name: "too early is not linearizable", Bad: lin.Linearizability, Says: "no order",
				Build: func(f *fixture) {
					put(f, "x", 60)
					gone(f, "x")
				}},
			{Name: "seen too early", Bad: lin.Order,
				Says: "b's peek (steps 4 to 6) returned element x (due at 7ms) at 6ms: too early",
				Build: func(f *fixture) {
					put(f, "x", 7)
					f.finds("b", ops.Peek, "x")
				}},
			{Name: "the one due first leaves last", Bad: lin.Order,
				Says: "element x (due at 2ms) was removed at step 8, although y (due at 1ms) was in " +
					"the queue", Build: func(f *fixture) {
					put(f, "x", 2)
					put(f, "y", 1)
					f.take("b", "x")
					gone(f, "y")
				}},
			{Name: "the one due first left last", Bad: lin.Linearizability, Says: "but x left first",
				Build: func(f *fixture) {
					put(f, "x", 2)
					put(f, "y", 1)
					f.take("b", "x")
					gone(f, "y")
				}},
			{Name: "became due during the call", Build: func(f *fixture) {
				put(f, "x", 5)
				f.finds("b", ops.Poll, "")
			}},
			{Name: "was due before the call", Bad: lin.Linearizability, Says: "found the queue empty",
				Build: func(f *fixture) {
					put(f, "x", 4)
					f.finds("b", ops.Poll, "")
				}},
			{Name: "waits for one that is not due", Build: func(f *fixture) {
				f.Call("b", ops.Take, "")
				put(f, "x", 100)
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
			}},
			{Name: "waits for one that is due", Bad: lin.Liveness, Says: "although element x is there",
				Build: func(f *fixture) {
					f.Call("b", ops.Take, "")
					put(f, "x", 2)
					f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
				}},
			{Name: "gave up beside one that was due", Opts: patient, Bad: lin.Liveness,
				Says:  "gave up although element x was in the queue for the last 5ms",
				Build: givesUp(put, 5)},
			{Name: "gave up soon after it was due", Opts: patient, Build: givesUp(put, 6)},
			{Name: "put back", Build: func(f *fixture) {
				put(f, "x", 0)
				f.removes("b", "x", func() {})
				gone(f, "x")
			}},
			{Name: "put back, and removed too early", Bad: lin.Order, Says: "too early",
				Build: func(f *fixture) {
					put(f, "x", 6)
					f.removes("b", "x", func() {})
					gone(f, "x")
				}},
			{Name: "lost", Bad: lin.Delivery, Says: "is lost", Build: func(f *fixture) {
				put(f, "x", 0)
				op := f.Call("b", ops.Take, "")
				f.Deletes("b", 0, "/q/x", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
			}},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"}, Bad: lin.Orphans,
				Says: "/q/claims/1 is no element", Build: bookkeeping},
		})
}

// givesUp is a take that returns empty-handed at step 10.
func givesUp(put func(*fixture, string, time.Duration), due time.Duration) func(*fixture) {
	return func(f *fixture) {
		put(f, "x", due)
		op := f.Call("b", ops.Take, "")
		for range 5 {
			f.Next()
		}
		f.Ret(op, lin.OpFailed, lin.Result{})
		f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
	}
}

func randomDelayQueue(t *rapid.T) lin.History {
	return randomRanked(t,
		func(now time.Duration) int64 {
			return int64(
				now + time.Duration(rapid.IntRange(0, 20).Draw(t, "delay"))*time.Millisecond,
			)
		},
		func(value string, rank int64) string { return Due(value, time.Duration(rank)) },
		func(rank int64, now time.Duration) bool { return time.Duration(rank) <= now })
}

func judgeSomeDelayQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Delay(atMostOnce))
}

func TestCorrectDelayQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomDelayQueue, judgeSomeDelayQueue)
}

func TestBrokenDelayQueuesAreFoundBroken(t *testing.T) {
	late := func(value string, rank int64) string { return Due(value, time.Duration(rank)) }
	judgingtest.CheckMutations(t, randomDelayQueue, judgeSomeDelayQueue, []mutation{
		{"due much later", reRank(late, int64(time.Hour)), []string{lin.Order}, 0},
		{
			"results exchanged", judgingtest.SwapOutputs(ops.Poll),
			[]string{lin.Linearizability, lin.Delivery, lin.Order}, 80,
		},
		{"out of nothing", neverStored, []string{lin.Linearizability}, 0},
		{"said to have failed", judgingtest.SayFailed(ops.Offer), []string{lin.Delivery}, 0},
		{"hangs", judgingtest.NeverReturns(ops.Offer, ops.Poll, ops.Peek), []string{lin.Liveness}, 0},
	})
}
