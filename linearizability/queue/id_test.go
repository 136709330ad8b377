package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestIDQueue(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return WithIDs(q) }),
		[]queueTest{
			{Name: "by id and in order",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z -> 2; c takes y; b discard(1) -> 0; " +
					"b poll() empty; rest"},
			{Name: "one of them is missed", Bad: lin.Delivery,
				Says:  `element z of the id "1" stayed in the queue during b's discard`,
				Steps: "a offers x#1; a offers y#2; a offers z#1; b discard(1) deletes x -> 1"},
			{Name: "offered meanwhile",
				Steps: "a offers x#1; b discard(1); a offers y#1; b deletes x; b -> 1; " +
					"c takes y; rest"},
			{Name: "wrong number", Bad: lin.Delivery,
				Says: `says that it removed 3 elements of the id "1", but it was 2`,
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z -> 3"},
			{Name: "another id", Bad: lin.Delivery, Says: "element y, offered by a, is lost",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z deletes y -> 2"},
			{Name: "counted by two", Bad: lin.Delivery, Says: "but it was 0",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z -> 2; c discard(1) -> 1"},
			{Name: "taken and counted", Bad: lin.Delivery, Says: "says that it removed 2 elements",
				Steps: "a offers x#1; a offers y#2; a offers z#1; c takes x; " +
					"b discard(1) deletes z -> 2"},
			{Name: "another id", Bad: lin.Delivery,
				Says:  `but it was 0; it removed element y of the id "2" at step`,
				Steps: "a offers y#2; b discard(1) deletes y -> 1"},
			{Name: "counted, and removed by another", Bad: lin.Delivery,
				Says:  `but it was 0; b removed element x of that id at step`,
				Steps: "a offers x#1; c discard(1); b takes x; c -> 1"},
			{Name: "discarded, then delivered", Bad: lin.Delivery,
				Says: "element x was removed by b's discard (steps 10 to 13), and delivered by " +
					"c's take",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z -> 2; c take() -> x"},
			{Name: "said not to be done", Bad: lin.Delivery,
				Says: "element x was removed by b's discard (steps 10 to 12, failed: " +
					"connection closed), which says that it was not",
				Steps: "a offers x#1; a offers y#2; a offers z#1; b discard(1) deletes x failed"},
			{Name: "reply lost",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x unknown; b takes y"},
			{Name: "overtakes what is discarded later", Bad: lin.Order,
				Says: "element x was in the queue before y",
				Steps: "a offers x#1; a offers y#2; a offers z#1; c takes y; " +
					"b discard(1) deletes x deletes z -> 2"},
			{Name: "not empty before it is discarded", Bad: lin.Linearizability,
				Says:  "found the queue empty",
				Steps: "a offers x#1; b poll() empty; b discard(1) deletes x -> 1"},
			{Name: "wrong order of the others", Bad: lin.Linearizability, Says: "y left first",
				Steps: "a offers x#1; a offers y#2; b takes y; b takes x"},
			{Name: "a poll removes it, an earlier discard has failed",
				Steps: "b discard(1) failed; a offers x#1; b poll(); b deletes x; " +
					"b told died; b unknown"},
			{Name: "a discard removes it after its end, an earlier poll did nothing",
				Steps: "a poll() unknown; a discard(1) unknown; b offers x#0; c offers y#1; " +
					"a deletes y"},
			{Name: "a poll removes it after its end, no discard of its id is in doubt",
				Bad: lin.Order, Says: "y left first",
				Steps: "a poll() unknown; a discard(1) -> 0; b offers x#0; c offers y#1; " +
					"a deletes y"},
			{Name: "one is counted, and a process died in the poll of the other",
				Steps: "a offers x#1; a offers y#1; b poll(); b discard(1); b deletes x; " +
					"b deletes y; b discard -> 1; b told died; b poll unknown"},
			{Name: "one is counted, and nobody has the other", Bad: lin.Delivery,
				Says:  `says that it removed 1 elements of the id "1", but it was 2`,
				Steps: "a offers x#1; a offers y#1; b discard(1) deletes x deletes y -> 1"},
			{Name: "hangs", Bad: lin.Liveness, Says: "b's discard (step 1, pending) never returned",
				Steps: "b discard(1); rest"},
			{Name: "without a log",
				Steps: "a offers x#1; a offers y#2; a offers z#1; " +
					"b discard(1) deletes x deletes z -> 2; c takes y; rest; unlogged"},
			{Name: "without a log, discarded and delivered", Bad: lin.Delivery,
				Says: `removed 1 elements of the id "1": with the other discards and the elements ` +
					"that were delivered these are 1 more than were offered",
				Steps: "a offers x#1; b discard(1) -> 1; c takes x; unlogged"},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"},
				Bad: lin.Orphans, Says: "/q/claims/1 is no element",
				Steps: "a offer(x) creates items/1=x creates claims/1=x ok; " +
					"rest items items/1=x claims claims/1=x"},
		})
}

// randomIDQueue makes valid histories of a queue with two ids.
func randomIDQueue(t *rapid.T) lin.History {
	ids := map[string]string{} // by value
	id := func() string { return fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "id")) }
	g := newQueueGame(t, byAgeOnly, func(value string, _ int64) string {
		ids[value] = id()
		return Identified(value, ids[value])
	}, alwaysShown)
	for range 3 {
		in := g.begin(ops.Offer)
		g.Ret(g.Call("a", ops.Offer, in), lin.OpOK, g.apply("a", ops.Offer, in))
	}
	g.Begin = func(string) (kind, input string) {
		kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Offer, ops.Poll, ops.Peek,
			ops.Discard}).Draw(t, "kind")
		if kind == ops.Discard {
			return kind, id()
		}
		return kind, g.begin(kind)
	}
	g.Apply = func(client, kind, input string) lin.Result {
		if kind != ops.Discard {
			return g.apply(client, kind, input)
		}
		step, _ := g.Next()
		before := len(g.queue)
		g.queue = slices.DeleteFunc(g.queue, func(w waiting) bool {
			if ids[w.value] != input {
				return false
			}
			g.Deletes(client, 0, "/q/"+w.value, 0)
			g.H.Server[len(g.H.Server)-1].Step = step
			return true
		})
		return lin.Result{Output: fmt.Sprint(before - len(g.queue))}
	}
	return g.Play()
}

func judgeSomeIDQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, WithIDs(atMostOnce))
}

func TestCorrectIDQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomIDQueue, judgeSomeIDQueue)
}

func TestBrokenIDQueuesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomIDQueue, judgeSomeIDQueue, []mutation{
		{"miscounts", judgingtest.OnCall(judgingtest.Returned(ops.Discard),
			func(_ *lin.History, op *lin.Op) { op.Output += "1" }),
			[]string{lin.Delivery}, 70}, // without any change there is no log
		{"misses one", judgingtest.DropChange(ops.Discard), []string{lin.Delivery}, 80},
		{"said to have failed", judgingtest.SayFailed(ops.Discard), []string{lin.Delivery}, 60},
		{"out of nothing", neverStored, []string{lin.Linearizability}, 0},
		{"hangs", judgingtest.NeverReturns(ops.Discard, ops.Offer, ops.Poll, ops.Peek), []string{lin.Liveness}, 0},
	})
}
