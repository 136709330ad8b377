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

// offers records a complete offer with its own input.
func (f *fixture) offers(client, value, input string) {
	op := f.Call(client, ops.Offer, input)
	f.Creates(client, 0, "/q/"+value, value, 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

// finds is a poll or peek without a change at the server; "" is an empty answer.
func (f *fixture) finds(client, kind, value string) {
	op := f.Call(client, kind, "")
	f.Next()
	f.Ret(op, lin.OpOK, lin.Result{Output: value, Empty: value == ""})
}

// removes records an abandoned take: during may put the element back.
func (f *fixture) removes(client, value string, during func()) {
	op := f.Call(client, ops.Take, "")
	f.Deletes(client, 0, "/q/"+value, 0)
	during()
	f.Creates(client, 0, "/q/"+value, value, 0)
	f.Ret(op, lin.OpFailed, lin.Result{})
}

func TestPriorityQueue(t *testing.T) {
	put := func(f *fixture, value string, priority int64) {
		f.offers("a", value, Prioritized(value, priority))
	}
	both := func(f *fixture) {
		put(f, "x", 5)
		put(f, "y", -1)
	}
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return Priority(q) }),
		[]queueTest{
			{Name: "most urgent first, then the oldest", Build: func(f *fixture) {
				both(f)
				put(f, "z", 5)
				f.finds("b", ops.Peek, "y")
				f.take("b", "y")
				f.take("b", "x")
				f.take("c", "z")
				f.finds("b", ops.Poll, "")
				f.Left = &lin.Leftovers{}
			}},
			{Name: "the oldest first", Bad: lin.Order,
				Says: "element x (priority 5) was removed at step 8, although y (priority -1) was " +
					"in the queue", Build: func(f *fixture) {
					both(f)
					f.take("b", "x")
				}},
			{Name: "the oldest first is not linearizable", Bad: lin.Linearizability,
				Says: "element y (priority -1) was in the queue before x (priority 5)",
				Build: func(f *fixture) {
					both(f)
					f.take("b", "x")
					f.take("b", "y")
				}},
			{Name: "the youngest of equals", Bad: lin.Order,
				Says: "although x (priority 5) was in the queue", Build: func(f *fixture) {
					put(f, "x", 5)
					put(f, "y", 5)
					f.take("b", "y")
				}},
			{Name: "chosen before a more urgent one came", Bad: lin.Order,
				Says: "although y (priority -1) was in the queue", Build: func(f *fixture) {
					put(f, "x", 5)
					op := f.Call("b", ops.Take, "")
					put(f, "y", -1)
					f.Deletes("b", 0, "/q/x", 0)
					f.Ret(op, lin.OpOK, lin.Result{Output: "x"})
				}},
			{Name: "peek at the oldest", Bad: lin.Linearizability, Says: "peek() -> x",
				Build: func(f *fixture) {
					both(f)
					f.finds("b", ops.Peek, "x")
				}},
			{Name: "not empty", Bad: lin.Linearizability, Says: "found the queue empty",
				Build: func(f *fixture) {
					both(f)
					f.finds("b", ops.Poll, "")
				}},
			{Name: "put back, and taken in its turn", Build: func(f *fixture) {
				both(f)
				f.removes("b", "y", func() {})
				f.take("c", "y")
				f.take("c", "x")
			}},
			{Name: "others while it is out", Build: func(f *fixture) {
				both(f)
				f.removes("b", "y", func() { f.take("c", "x") })
				f.take("c", "y")
			}},
			{Name: "put back, and overtaken", Bad: lin.Order,
				Says: "although y (priority -1) was in the queue", Build: func(f *fixture) {
					both(f)
					f.removes("b", "y", func() {})
					f.take("c", "x")
				}},
			{Name: "put back, and overtaken by a younger equal", Bad: lin.Order,
				Says: "although x (priority 5) was in the queue", Build: func(f *fixture) {
					put(f, "x", 5)
					put(f, "y", 5)
					f.removes("b", "x", func() {})
					f.take("c", "y")
				}},
			{Name: "without a log", Bad: lin.Linearizability, Says: "but x left first",
				Build: func(f *fixture) {
					both(f)
					f.take("b", "x")
					f.take("b", "y")
					f.H.Server = nil
				}},
			{Name: "lost", Bad: lin.Delivery, Says: "element y, offered by a, is lost",
				Build: func(f *fixture) {
					both(f)
					op := f.Call("b", ops.Take, "")
					f.Deletes("b", 0, "/q/y", 0)
					f.Ret(op, lin.OpUnknown, lin.Result{})
				}},
			{Name: "twice", Bad: lin.Delivery, Says: "element y was delivered twice",
				Build: func(f *fixture) {
					both(f)
					f.take("b", "y")
					f.finds("c", ops.Take, "y")
				}},
			{Name: "waits beside an element", Bad: lin.Liveness, Says: "although element x is there",
				Build: func(f *fixture) {
					f.Call("b", ops.Take, "")
					put(f, "x", 1)
					f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
				}},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"}, Bad: lin.Orphans,
				Says: "/q/claims/1 is no element", Build: bookkeeping},
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
) lin.History {
	s := &judgingtest.Simulator{Fixture: &judgingtest.Fixture{}, T: t}
	var queue []waiting
	offered := map[string]waiting{}
	s.Begin = func(string) (kind, in string) {
		kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Poll, ops.Poll, ops.Poll,
			ops.Peek}).Draw(t, "kind")
		if kind != ops.Offer {
			return kind, ""
		}
		w := waiting{
			fmt.Sprintf("v%d", len(offered)), rank(time.Duration(s.Step) * time.Millisecond),
		}
		in = input(w.value, w.rank)
		offered[in] = w
		return kind, in
	}
	s.Apply = func(client, kind, in string) lin.Result {
		if kind == ops.Offer {
			w := offered[in]
			s.Creates(client, 0, "/q/"+w.value, w.value, 0)
			at := slices.IndexFunc(queue, func(o waiting) bool { return o.rank > w.rank })
			if at < 0 {
				at = len(queue)
			}
			queue = slices.Insert(queue, at, w)
			return lin.Result{}
		}
		if len(queue) == 0 || !shown(queue[0].rank, time.Duration(s.Step)*time.Millisecond) {
			s.Next()
			return lin.Result{Empty: true}
		}
		first := queue[0].value
		if kind == ops.Peek {
			s.Next()
			return lin.Result{Output: first}
		}
		s.Deletes(client, 0, "/q/"+first, 0)
		queue = queue[1:]
		return lin.Result{Output: first}
	}
	return s.Play()
}

func randomPriorityQueue(t *rapid.T) lin.History {
	return randomRanked(t,
		func(time.Duration) int64 { return rapid.Int64Range(-1, 1).Draw(t, "priority") },
		Prioritized, func(int64, time.Duration) bool { return true })
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
	put := func(f *fixture, value string, priority int64) {
		f.offers("a", value, Prioritized(value, priority))
	}
	judgingtest.CheckHistories(t, queueAt(weak), []queueTest{
		{Name: "during the call", Build: func(f *fixture) {
			put(f, "x", 5)
			op := f.Call("b", ops.Take, "")
			put(f, "y", -1)
			f.Deletes("b", 0, "/q/x", 0)
			f.Ret(op, lin.OpOK, lin.Result{Output: "x"})
			f.take("b", "y")
		}},
		{Name: "before the call", Bad: lin.Order, Says: "although y (priority -1) was in the queue",
			Build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", -1)
				f.take("b", "x")
			}},
		{Name: "before the call, with its reply lost", Bad: lin.Order,
			Says: "although y (priority -1) was in the queue", Build: func(f *fixture) {
				put(f, "x", 5)
				put(f, "y", -1)
				op := f.Call("b", ops.Take, "")
				f.Deletes("b", 0, "/q/x", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
			}},
	})
}

// TestOvertakingByALostTake: the reply of a take that passes over may be lost. The loss of the
// element is a matter of delivery.
func TestOvertakingByALostTake(t *testing.T) {
	f := &fixture{}
	f.offers("a", "x", Prioritized("x", 5))
	lost := f.Call("b", ops.Take, "")
	f.offers("a", "y", Prioritized("y", -1))
	f.Deletes("b", 0, "/q/x", 0)
	f.take("c", "y")
	f.Ret(lost, lin.OpUnknown, lin.Result{})
	report := judgingtest.Judge(f.History(), nil, Priority{Path: "/q", MayOvertake: true})
	if v, _ := report.Verdict(lin.Linearizability); v.Status != lin.OK {
		t.Error(v)
	}
}
