package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestPriorityQueue(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return Priority(q) }),
		[]queueTest{
			{Name: "most urgent first, then the oldest",
				Steps: "a offers x#5; a offers y#-1; a offers z#5; b peek() -> y; b takes y; " +
					"b takes x; c takes z; b poll() empty; rest"},
			{Name: "the oldest first", Bad: lin.Order,
				Says: "element x (priority 5) was removed at step 8, although y (priority -1) " +
					"was in the queue", Steps: "a offers x#5; a offers y#-1; b takes x"},
			{Name: "the oldest first is not linearizable", Bad: lin.Linearizability,
				Says:  "element y (priority -1) was in the queue before x (priority 5)",
				Steps: "a offers x#5; a offers y#-1; b takes x; b takes y"},
			{Name: "the less urgent of two during one take", Bad: lin.Linearizability,
				Says: "element y (priority -1) was removed at step 8, although x (priority -5) was " +
					"in the queue",
				Steps: "b take(); a offers x#-5; a offers y#-1; b deletes y; b -> y; b takes x"},
			{Name: "the youngest of equals", Bad: lin.Order,
				Says:  "although x (priority 5) was in the queue",
				Steps: "a offers x#5; a offers y#5; b takes y"},
			{Name: "chosen before a more urgent one came", Bad: lin.Order,
				Says:  "although y (priority -1) was in the queue",
				Steps: "a offers x#5; b take(); a offers y#-1; b deletes x; b -> x"},
			{Name: "peek at the oldest", Bad: lin.Linearizability, Says: "peek() -> x",
				Steps: "a offers x#5; a offers y#-1; b peek() -> x"},
			{Name: "not empty", Bad: lin.Linearizability, Says: "found the queue empty",
				Steps: "a offers x#5; a offers y#-1; b poll() empty"},
			{Name: "put back, and taken in its turn",
				Steps: "a offers x#5; a offers y#-1; b take() deletes y creates y=y failed; " +
					"c takes y; c takes x"},
			{Name: "others while it is out",
				Steps: "a offers x#5; a offers y#-1; b take() deletes y; c takes x; " +
					"b creates y=y; b failed; c takes y"},
			{Name: "put back, and overtaken", Bad: lin.Order,
				Says: "although y (priority -1) was in the queue",
				Steps: "a offers x#5; a offers y#-1; b take() deletes y creates y=y failed; " +
					"c takes x"},
			{Name: "put back, and overtaken by a younger equal", Bad: lin.Order,
				Says: "although x (priority 5) was in the queue",
				Steps: "a offers x#5; a offers y#5; b take() deletes x creates x=x failed; " +
					"c takes y"},
			{Name: "without a log", Bad: lin.Linearizability, Says: "but x left first",
				Steps: "a offers x#5; a offers y#-1; b takes x; b takes y; unlogged"},
			{Name: "lost", Bad: lin.Delivery, Says: "element y, offered by a, is lost",
				Steps: "a offers x#5; a offers y#-1; b take() deletes y unknown"},
			{Name: "twice", Bad: lin.Delivery, Says: "element y was delivered twice",
				Steps: "a offers x#5; a offers y#-1; b takes y; c take() -> y"},
			{Name: "waits beside an element", Bad: lin.Liveness,
				Says: "although element x is there", Steps: "b take(); a offers x#1; rest x=x"},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"},
				Bad: lin.Orphans, Says: "/q/claims/1 is no element",
				Steps: "a offer(x) creates items/1=x creates claims/1=x ok; " +
					"rest items items/1=x claims claims/1=x"},
		})
}

// waiting is an element of a random queue.
type waiting struct {
	value string
	rank  int64
}

// queueGame plays with a queue that has elements of a rank, the lowest first.
type queueGame struct {
	*judgingtest.Simulator
	queue   []waiting
	offered map[string]waiting // by the Input of the offer
	// rank draws a rank, input makes the Input of an offer, and shown reports whether an element
	// can be taken at a time.
	rank  func(now time.Duration) int64
	input func(value string, rank int64) string
	shown func(rank int64, now time.Duration) bool
}

// randomRanked makes valid histories of a queue with ranks that loses elements only with a lost
// reply.
func randomRanked(
	t *rapid.T, rank func(now time.Duration) int64, input func(string, int64) string,
	shown func(rank int64, now time.Duration) bool,
) lin.History {
	g := newQueueGame(t, rank, input, shown)
	g.Begin = func(string) (kind, in string) {
		kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Poll, ops.Poll, ops.Poll,
			ops.Peek}).Draw(t, "kind")
		return kind, g.begin(kind)
	}
	g.Apply = g.apply
	return g.Play()
}

func newQueueGame(
	t *rapid.T, rank func(now time.Duration) int64, input func(string, int64) string,
	shown func(rank int64, now time.Duration) bool,
) *queueGame {
	return &queueGame{Simulator: &judgingtest.Simulator{Fixture: &judgingtest.Fixture{}, T: t},
		offered: map[string]waiting{}, rank: rank, input: input, shown: shown}
}

func byAgeOnly(time.Duration) int64         { return 0 }
func alwaysShown(int64, time.Duration) bool { return true }

func (g *queueGame) now() time.Duration { return time.Duration(g.Step) * time.Millisecond }

// begin returns the Input of a call.
func (g *queueGame) begin(kind string) string {
	if kind != ops.Offer {
		return ""
	}
	w := waiting{fmt.Sprintf("v%d", len(g.offered)), g.rank(g.now())}
	in := g.input(w.value, w.rank)
	g.offered[in] = w
	return in
}

func (g *queueGame) apply(client, kind, in string) lin.Result {
	if kind == ops.Offer {
		w := g.offered[in]
		g.Creates(client, 0, "/q/"+w.value, w.value, 0)
		at := slices.IndexFunc(g.queue, func(o waiting) bool { return o.rank > w.rank })
		if at < 0 {
			at = len(g.queue)
		}
		g.queue = slices.Insert(g.queue, at, w)
		return lin.Result{}
	}
	if len(g.queue) == 0 || !g.shown(g.queue[0].rank, g.now()) {
		g.Next()
		return lin.Result{Empty: true}
	}
	first := g.queue[0].value
	if kind == ops.Peek {
		g.Next()
	} else {
		g.Deletes(client, 0, "/q/"+first, 0)
		g.queue = g.queue[1:]
	}
	return lin.Result{Output: first}
}

func randomPriorityQueue(t *rapid.T) lin.History {
	return randomRanked(t,
		func(time.Duration) int64 { return rapid.Int64Range(-1, 1).Draw(t, "priority") },
		Prioritized, alwaysShown)
}

func judgeSomePriorityQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Priority(atMostOnce))
}

func TestCorrectPriorityQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomPriorityQueue, judgeSomePriorityQueue)
}

// reRank changes the rank of a removed element, so that it has passed over another.
func reRank(input func(string, int64) string, worst int64) func(t *rapid.T, h *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		e := judgingtest.One(t, h.Server, func(e *lin.ServerEvent) bool {
			return e.Kind == lin.NodeDeleted && slices.ContainsFunc(h.Server,
				func(o lin.ServerEvent) bool {
					return o.Kind == lin.NodeCreated && o.Path != e.Path && o.Step < e.Step &&
						deathOf(h, o.Path) > e.Step
				})
		})
		if e == nil {
			return false
		}
		value := e.Path[len("/q/"):]
		for i := range h.Ops {
			if op := &h.Ops[i]; op.Kind == ops.Offer && (strings.HasPrefix(op.Input,
				value+"#") || strings.HasPrefix(op.Input, value+"@")) {
				op.Input = input(value, worst)
			}
		}
		return true
	}
}

// neverStored removes all changes of a taken element from the log.
func neverStored(t *rapid.T, h *lin.History) bool {
	op := judgingtest.One(t, h.Ops,
		func(op *lin.Op) bool { return op.OK() && isTake(op) && !op.Empty })
	if op == nil {
		return false
	}
	h.Server = slices.DeleteFunc(h.Server,
		func(e lin.ServerEvent) bool { return e.Path == "/q/"+op.Output })
	return len(h.Server) > 0
}

// deathOf returns the step at which a znode was deleted, or never.
func deathOf(h *lin.History, path string) int64 {
	for _, e := range h.Server {
		if e.Kind == lin.NodeDeleted && e.Path == path {
			return e.Step
		}
	}
	return judging.Never
}

func TestBrokenPriorityQueuesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomPriorityQueue, judgeSomePriorityQueue, []mutation{
		{"less urgent than others", reRank(Prioritized, 9), []string{lin.Order}, 0},
		{
			"results exchanged", judgingtest.SwapOutputs(ops.Poll),
			[]string{lin.Linearizability, lin.Delivery, lin.Order}, 80,
		},
		{"out of nothing", neverStored, []string{lin.Linearizability}, 0},
		{"said to have failed", judgingtest.SayFailed(ops.Offer), []string{lin.Delivery}, 0},
		{"hangs", judgingtest.NeverReturns(ops.Offer, ops.Poll, ops.Peek), []string{lin.Liveness}, 0},
	})
}

// TestOvertakingElements: with MayOvertake a take may pass over only the elements that came during
// its call.
func TestOvertakingElements(t *testing.T) {
	weak := func(q Claims) lin.Claims {
		q.MayOvertake = true
		return Priority(q)
	}
	judgingtest.CheckHistories(t, queueAt(weak), []queueTest{
		{Name: "during the call",
			Steps: "a offers x#5; b take(); a offers y#-1; b deletes x; b -> x; b takes y"},
		{Name: "during the call, but before the element that it takes", Bad: lin.Order,
			Says:  "although y (priority -1) was in the queue",
			Steps: "b take(); a offers y#-1; a offers x#5; b deletes x; b -> x"},
		{Name: "stored before it was put back",
			Steps: "a offers x#5; b take(); c take(); c deletes x; a offers y#-1; c creates x=x; " +
				"c failed; b deletes x; b -> x; b takes y"},
		{Name: "an empty answer beside an element", Bad: lin.Linearizability,
			Says: "found the queue empty", Steps: "a offers x#5; b poll() empty"},
		{Name: "before the call", Bad: lin.Order, Says: "although y (priority -1) was in the queue",
			Steps: "a offers x#5; a offers y#-1; b takes x"},
		{Name: "before the call, with its reply lost", Bad: lin.Order,
			Says:  "although y (priority -1) was in the queue",
			Steps: "a offers x#5; a offers y#-1; b take() deletes x unknown"},
	})
}

// TestOvertakingByALostTake: the reply of a take that passes over may be lost. The loss of the
// element is a matter of delivery.
func TestOvertakingByALostTake(t *testing.T) {
	h := played("a offers x#5; b take(); a offers y#-1; b deletes x; c takes y; b unknown")
	report := judgingtest.Judge(h, nil, Priority{Path: "/q", MayOvertake: true})
	if v, _ := report.Verdict(lin.Linearizability); v.Status != lin.OK {
		t.Error(v)
	}
}
