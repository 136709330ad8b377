package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// offers records a complete offer with its own input.
func (f *fixture) offers(client, value, input string) {
	op := f.call(client, ops.Offer, input)
	f.creates(client, 0, "/q/"+value, value, 0)
	f.ret(op, OpOK, Result{})
}

// finds is a poll or peek without a change at the server; "" is an empty answer.
func (f *fixture) finds(client, kind, value string) {
	op := f.call(client, kind, "")
	f.next()
	f.ret(op, OpOK, Result{Output: value, Empty: value == ""})
}

// removes records an abandoned take: during may put the element back.
func (f *fixture) removes(client, value string, during func()) {
	op := f.call(client, ops.Take, "")
	f.deletes(client, 0, "/q/"+value, 0)
	during()
	f.creates(client, 0, "/q/"+value, value, 0)
	f.ret(op, OpFailed, Result{})
}

func TestPriorityQueue(t *testing.T) {
	put := func(f *fixture, value string, priority int64) {
		f.offers("a", value, Prioritized(value, priority))
	}
	both := func(f *fixture) {
		put(f, "x", 5)
		put(f, "y", -1)
	}
	checkHistories(t, queueAt(func(q Queue) Claims { return PriorityQueue(q) }), []queueTest{
		{name: "most urgent first, then the oldest", build: func(f *fixture) {
			both(f)
			put(f, "z", 5)
			f.finds("b", ops.Peek, "y")
			f.take("b", "y")
			f.take("b", "x")
			f.take("c", "z")
			f.finds("b", ops.Poll, "")
			f.left = &Leftovers{}
		}},
		{name: "the oldest first", bad: Order,
			says: "element x (priority 5) was removed at step 8, although y (priority -1) was " +
				"in the queue", build: func(f *fixture) {
				both(f)
				f.take("b", "x")
			}},
		{name: "the oldest first is not linearizable", bad: Linearizability,
			says: "element y (priority -1) was in the queue before x (priority 5)",
			build: func(f *fixture) {
				both(f)
				f.take("b", "x")
				f.take("b", "y")
			}},
		{name: "the youngest of equals", bad: Order,
			says: "although x (priority 5) was in the queue", build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", 5)
				f.take("b", "y")
			}},
		{name: "chosen before a more urgent one came", bad: Order,
			says: "although y (priority -1) was in the queue", build: func(f *fixture) {
				put(f, "x", 5)
				op := f.call("b", ops.Take, "")
				put(f, "y", -1)
				f.deletes("b", 0, "/q/x", 0)
				f.ret(op, OpOK, Result{Output: "x"})
			}},
		{name: "peek at the oldest", bad: Linearizability, says: "peek() -> x",
			build: func(f *fixture) {
				both(f)
				f.finds("b", ops.Peek, "x")
			}},
		{name: "not empty", bad: Linearizability, says: "found the queue empty",
			build: func(f *fixture) {
				both(f)
				f.finds("b", ops.Poll, "")
			}},
		{name: "put back, and taken in its turn", build: func(f *fixture) {
			both(f)
			f.removes("b", "y", func() {})
			f.take("c", "y")
			f.take("c", "x")
		}},
		{name: "others while it is out", build: func(f *fixture) {
			both(f)
			f.removes("b", "y", func() { f.take("c", "x") })
			f.take("c", "y")
		}},
		{name: "put back, and overtaken", bad: Order,
			says: "although y (priority -1) was in the queue", build: func(f *fixture) {
				both(f)
				f.removes("b", "y", func() {})
				f.take("c", "x")
			}},
		{name: "put back, and overtaken by a younger equal", bad: Order,
			says: "although x (priority 5) was in the queue", build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", 5)
				f.removes("b", "x", func() {})
				f.take("c", "y")
			}},
		{name: "without a log", bad: Linearizability, says: "but x left first",
			build: func(f *fixture) {
				both(f)
				f.take("b", "x")
				f.take("b", "y")
				f.h.Server = nil
			}},
		{name: "lost", bad: Delivery, says: "element y, offered by a, is lost",
			build: func(f *fixture) {
				both(f)
				op := f.call("b", ops.Take, "")
				f.deletes("b", 0, "/q/y", 0)
				f.ret(op, OpUnknown, Result{})
			}},
		{name: "twice", bad: Delivery, says: "element y was delivered twice",
			build: func(f *fixture) {
				both(f)
				f.take("b", "y")
				f.finds("c", ops.Take, "y")
			}},
		{name: "waits beside an element", bad: Liveness, says: "although element x is there",
			build: func(f *fixture) {
				f.call("b", ops.Take, "")
				put(f, "x", 1)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
			}},
		{name: "bookkeeping is left", opts: Queue{Path: "/q", Items: "/q/items"}, bad: Orphans,
			says: "/q/claims/1 is no element", build: bookkeeping},
	})
}

// waiting is an element of a random queue.
type waiting struct {
	value string
	rank  int64
}

// randomRanked makes valid histories of a queue with ranks that loses elements only with a lost
// reply. rank draws a rank, input makes the Input of an offer, and shown reports whether an element
// can be taken at a time.
func randomRanked(
	t *rapid.T, rank func(now time.Duration) int64, input func(string, int64) string,
	shown func(rank int64, now time.Duration) bool,
) History {
	s := &simulator{t: t}
	var queue []waiting
	offered := map[string]waiting{}
	s.begin = func(string) (kind, in string) {
		kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Poll, ops.Poll, ops.Poll,
			ops.Peek}).Draw(t, "kind")
		if kind != ops.Offer {
			return kind, ""
		}
		w := waiting{
			fmt.Sprintf("v%d", len(offered)), rank(time.Duration(s.step) * time.Millisecond),
		}
		in = input(w.value, w.rank)
		offered[in] = w
		return kind, in
	}
	s.apply = func(client, kind, in string) Result {
		if kind == ops.Offer {
			w := offered[in]
			s.creates(client, 0, "/q/"+w.value, w.value, 0)
			at := slices.IndexFunc(queue, func(o waiting) bool { return o.rank > w.rank })
			if at < 0 {
				at = len(queue)
			}
			queue = slices.Insert(queue, at, w)
			return Result{}
		}
		if len(queue) == 0 || !shown(queue[0].rank, time.Duration(s.step)*time.Millisecond) {
			s.next()
			return Result{Empty: true}
		}
		first := queue[0].value
		if kind == ops.Peek {
			s.next()
			return Result{Output: first}
		}
		s.deletes(client, 0, "/q/"+first, 0)
		queue = queue[1:]
		return Result{Output: first}
	}
	return s.play()
}

func randomPriorityQueue(t *rapid.T) History {
	return randomRanked(t,
		func(time.Duration) int64 { return rapid.Int64Range(-1, 1).Draw(t, "priority") },
		Prioritized, func(int64, time.Duration) bool { return true })
}

func judgeSomePriorityQueue(h History) Report {
	return Judge(h, &Leftovers{}, PriorityQueue(atMostOnce))
}

func TestCorrectPriorityQueuesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomPriorityQueue, judgeSomePriorityQueue)
}

// reRank changes the rank of a removed element, so that it has passed over another.
func reRank(input func(string, int64) string, worst int64) func(t *rapid.T, h *History) bool {
	return func(t *rapid.T, h *History) bool {
		e := one(t, h.Server, func(e *ServerEvent) bool {
			return e.Kind == NodeDeleted && slices.ContainsFunc(h.Server, func(o ServerEvent) bool {
				return o.Kind == NodeCreated && o.Path != e.Path && o.Step < e.Step &&
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
func neverStored(t *rapid.T, h *History) bool {
	op := one(t, h.Ops, func(op *Op) bool { return op.ok() && isTake(op) && !op.Empty })
	if op == nil {
		return false
	}
	h.Server = slices.DeleteFunc(h.Server,
		func(e ServerEvent) bool { return e.Path == "/q/"+op.Output })
	return len(h.Server) > 0
}

// deathOf returns the step at which a znode was deleted, or never.
func deathOf(h *History, path string) int64 {
	for _, e := range h.Server {
		if e.Kind == NodeDeleted && e.Path == path {
			return e.Step
		}
	}
	return never
}

func TestBrokenPriorityQueuesAreFoundBroken(t *testing.T) {
	checkMutations(t, randomPriorityQueue, judgeSomePriorityQueue, []mutation{
		{"less urgent than others", reRank(Prioritized, 9), []string{Order}, 0},
		{
			"results exchanged", swapOutputs(ops.Poll),
			[]string{Linearizability, Delivery, Order}, 80,
		},
		{"out of nothing", neverStored, []string{Linearizability}, 0},
		{"said to have failed", sayFailed(ops.Offer), []string{Delivery}, 0},
		{"hangs", neverReturns(ops.Offer, ops.Poll, ops.Peek), []string{Liveness}, 0},
	})
}

// TestOvertakingElements: with MayOvertake a take may pass over only the elements that came during
// its call.
func TestOvertakingElements(t *testing.T) {
	weak := func(q Queue) Claims {
		q.MayOvertake = true
		return PriorityQueue(q)
	}
	put := func(f *fixture, value string, priority int64) {
		f.offers("a", value, Prioritized(value, priority))
	}
	checkHistories(t, queueAt(weak), []queueTest{
		{name: "during the call", build: func(f *fixture) {
			put(f, "x", 5)
			op := f.call("b", ops.Take, "")
			put(f, "y", -1)
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpOK, Result{Output: "x"})
			f.take("b", "y")
		}},
		{name: "before the call", bad: Order, says: "although y (priority -1) was in the queue",
			build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", -1)
				f.take("b", "x")
			}},
		{name: "before the call, with its reply lost", bad: Order,
			says: "although y (priority -1) was in the queue", build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", -1)
				op := f.call("b", ops.Take, "")
				f.deletes("b", 0, "/q/x", 0)
				f.ret(op, OpUnknown, Result{})
			}},
	})
}

// TestOvertakingByALostTake: the reply of a take that passes over may be lost. The loss of the
// element is a matter of delivery.
func TestOvertakingByALostTake(t *testing.T) {
	f := &fixture{}
	f.offers("a", "x", Prioritized("x", 5))
	lost := f.call("b", ops.Take, "")
	f.offers("a", "y", Prioritized("y", -1))
	f.deletes("b", 0, "/q/x", 0)
	f.take("c", "y")
	f.ret(lost, OpUnknown, Result{})
	report := Judge(f.history(), nil, PriorityQueue{Path: "/q", MayOvertake: true})
	if v, _ := report.Verdict(Linearizability); v.Status != OK {
		t.Error(v)
	}
}
