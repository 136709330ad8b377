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
	patient := Claims{Patience: 5 * time.Millisecond}
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return Delay(q) }),
		[]queueTest{
			{Name: "in time",
				Steps: "a offers x@12ms; a offers y@11ms; b poll(); pass 1; b empty; b peek(); " +
					"pass 1; b -> y; b takes y; b takes x; rest"},
			{Name: "due at once", Steps: "a offers x@0s; b takes x; rest"},
			{Name: "too early", Bad: lin.Order,
				Says:  "element x (due at 6ms) was removed at step 5, 1ms before it was due",
				Steps: "a offers x@6ms; b takes x; rest"},
			{Name: "too early is not linearizable", Bad: lin.Linearizability, Says: "element x (due at 60ms) was removed at step 5, 55ms before it was due",
				Steps: "a offers x@60ms; b takes x; rest"},
			{Name: "seen too early", Bad: lin.Order,
				Says:  "b's peek (steps 4 to 6) returned element x (due at 7ms) 1ms before it was due",
				Steps: "a offers x@7ms; b peek(); pass 1; b -> x"},
			{Name: "the one due first leaves last", Bad: lin.Order,
				Says: "element x (due at 2ms) was removed at step 8, although y (due at 1ms) " +
					"was in the queue",
				Steps: "a offers x@2ms; a offers y@1ms; b takes x; b takes y; rest"},
			{Name: "the one due first left last", Bad: lin.Linearizability,
				Says:  "but x left first",
				Steps: "a offers x@2ms; a offers y@1ms; b takes x; b takes y; rest"},
			{Name: "became due during the call",
				Steps: "a offers x@5ms; b poll(); pass 1; b empty"},
			{Name: "was due before the call", Bad: lin.Linearizability,
				Says: "found the queue empty", Steps: "a offers x@4ms; b poll(); pass 1; b empty"},
			{Name: "waits for one that is not due", Steps: "b take(); a offers x@100ms; rest x=x"},
			{Name: "waits for one that is due", Bad: lin.Liveness,
				Says: "although element x is there", Steps: "b take(); a offers x@2ms; rest x=x"},
			{Name: "gave up beside one that was due", Opts: patient, Bad: lin.Liveness,
				Says:  "gave up although element x (due at 5ms) was in the queue for the last 5ms",
				Steps: "a offers x@5ms; b take(); pass 5; b failed; rest x=x"},
			{Name: "gave up soon after it was due", Opts: patient,
				Steps: "a offers x@6ms; b take(); pass 5; b failed; rest x=x"},
			{Name: "put back",
				Steps: "a offers x@0s; b take() deletes x creates x=x failed; b takes x; rest"},
			{Name: "put back, and removed too early", Bad: lin.Order, Says: "before it was due",
				Steps: "a offers x@6ms; b take() deletes x creates x=x failed; b takes x; rest"},
			{Name: "lost", Bad: lin.Delivery, Says: "is lost",
				Steps: "a offers x@0s; b take() deletes x unknown"},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"},
				Bad: lin.Orphans, Says: "/q/claims/1 is no element",
				Steps: "a offer(x) creates items/1=x creates claims/1=x ok; " +
					"rest items items/1=x claims claims/1=x"},
		})
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
