package linearizability

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// A step of a fixture takes a millisecond.
func TestDelayQueue(t *testing.T) {
	put := func(f *fixture, value string, due time.Duration) {
		f.offers("a", value, Due(value, due*time.Millisecond))
	}
	gone := func(f *fixture, value string) { f.take("b", value); f.left = &Leftovers{} }
	patient := Queue{Patience: 5 * time.Millisecond}
	checkHistories(t, queueAt(func(q Queue) Claims { return DelayQueue(q) }), []queueTest{
		{name: "in time", build: func(f *fixture) {
			put(f, "x", 12) // steps 1 to 3
			put(f, "y", 11)
			f.finds("b", ops.Poll, "")
			f.finds("b", ops.Peek, "y") // returns at step 12
			f.take("b", "y")
			f.take("b", "x")
			f.left = &Leftovers{}
		}},
		{
			name: "due at once", build: func(f *fixture) {
				put(f, "x", 0)
				gone(f, "x")
			},
		},
		{name: "too early", bad: Order,
			says: "element x (due at 6ms) was removed at step 5, at 5ms: too early",
			build: func(f *fixture) {
				put(f, "x", 6)
				gone(f, "x")
			}},
		{name: "too early is not linearizable", bad: Linearizability, says: "no order",
			build: func(f *fixture) {
				put(f, "x", 60)
				gone(f, "x")
			}},
		{name: "seen too early", bad: Order,
			says: "b's peek (steps 4 to 6) returned element x (due at 7ms) at 6ms: too early",
			build: func(f *fixture) {
				put(f, "x", 7)
				f.finds("b", ops.Peek, "x")
			}},
		{name: "the one due first leaves last", bad: Order,
			says: "element x (due at 2ms) was removed at step 8, although y (due at 1ms) was in " +
				"the queue", build: func(f *fixture) {
				put(f, "x", 2)
				put(f, "y", 1)
				f.take("b", "x")
				gone(f, "y")
			}},
		{name: "the one due first left last", bad: Linearizability, says: "but x left first",
			build: func(f *fixture) {
				put(f, "x", 2)
				put(f, "y", 1)
				f.take("b", "x")
				gone(f, "y")
			}},
		{name: "became due during the call", build: func(f *fixture) {
			put(f, "x", 5)
			f.finds("b", ops.Poll, "")
		}},
		{name: "was due before the call", bad: Linearizability, says: "found the queue empty",
			build: func(f *fixture) {
				put(f, "x", 4)
				f.finds("b", ops.Poll, "")
			}},
		{name: "waits for one that is not due", build: func(f *fixture) {
			f.call("b", ops.Take, "")
			put(f, "x", 100)
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
		}},
		{name: "waits for one that is due", bad: Liveness, says: "although element x is there",
			build: func(f *fixture) {
				f.call("b", ops.Take, "")
				put(f, "x", 2)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
			}},
		{name: "gave up beside one that was due", opts: patient, bad: Liveness,
			says:  "gave up although element x was in the queue for the last 5ms",
			build: givesUp(put, 5)},
		{name: "gave up soon after it was due", opts: patient, build: givesUp(put, 6)},
		{name: "put back", build: func(f *fixture) {
			put(f, "x", 0)
			f.removes("b", "x", func() {})
			gone(f, "x")
		}},
		{name: "put back, and removed too early", bad: Order, says: "too early",
			build: func(f *fixture) {
				put(f, "x", 6)
				f.removes("b", "x", func() {})
				gone(f, "x")
			}},
		{name: "lost", bad: Delivery, says: "is lost", build: func(f *fixture) {
			put(f, "x", 0)
			op := f.call("b", ops.Take, "")
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpUnknown, Result{})
		}},
		{name: "bookkeeping is left", opts: Queue{Path: "/q", Items: "/q/items"}, bad: Orphans,
			says: "/q/claims/1 is no element", build: bookkeeping},
	})
}

// givesUp is a take that returns empty-handed at step 10.
func givesUp(put func(*fixture, string, time.Duration), due time.Duration) func(*fixture) {
	return func(f *fixture) {
		put(f, "x", due)
		op := f.call("b", ops.Take, "")
		for range 5 {
			f.next()
		}
		f.ret(op, OpFailed, Result{})
		f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
	}
}

func randomDelayQueue(t *rapid.T) History {
	return randomRanked(t,
		func(now time.Duration) int64 {
			return int64(
				now + time.Duration(rapid.IntRange(0, 20).Draw(t, "delay"))*time.Millisecond,
			)
		},
		func(value string, rank int64) string { return Due(value, time.Duration(rank)) },
		func(rank int64, now time.Duration) bool { return time.Duration(rank) <= now })
}

func judgeSomeDelayQueue(h History) Report { return Judge(h, &Leftovers{}, DelayQueue(atMostOnce)) }

func TestCorrectDelayQueuesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomDelayQueue, judgeSomeDelayQueue)
}

func TestBrokenDelayQueuesAreFoundBroken(t *testing.T) {
	late := func(value string, rank int64) string { return Due(value, time.Duration(rank)) }
	checkMutations(t, randomDelayQueue, judgeSomeDelayQueue, []mutation{
		{"due much later", reRank(late, int64(time.Hour)), []string{Order}, 0},
		{
			"results exchanged", swapOutputs(ops.Poll),
			[]string{Linearizability, Delivery, Order}, 80,
		},
		{"out of nothing", neverStored, []string{Linearizability}, 0},
		{"said to have failed", sayFailed(ops.Offer), []string{Delivery}, 0},
		{"hangs", neverReturns(ops.Offer, ops.Poll, ops.Peek), []string{Liveness}, 0},
	})
}
