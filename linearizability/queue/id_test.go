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

// discards records a complete discard of elements with an id.
func (f *fixture) discards(client, id, says string, elements ...string) {
	op := f.Call(client, ops.Discard, id)
	for _, e := range elements {
		f.Deletes(client, 0, "/q/"+e, 0)
	}
	f.Ret(op, lin.OpOK, lin.Result{Output: says})
}

func TestIDQueue(t *testing.T) {
	put := func(f *fixture, value, id string) { f.offers("a", value, Identified(value, id)) }
	three := func(f *fixture) {
		put(f, "x", "1")
		put(f, "y", "2")
		put(f, "z", "1")
	}
	judgingtest.CheckHistories(t, queueAt(func(q Claims) lin.Claims { return WithIDs(q) }),
		[]queueTest{
			{Name: "by id and in order", Build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "2", "x", "z")
				f.take("c", "y")
				f.discards("b", "1", "0")
				f.finds("b", ops.Poll, "")
				f.Left = &lin.Leftovers{}
			}},
			{Name: "one of them is missed", Bad: lin.Delivery,
				Says: `element z of the id "1" stayed in the queue during b's discard`,
				Build: func(f *fixture) {
					three(f)
					f.discards("b", "1", "1", "x")
				}},
			{Name: "offered meanwhile", Build: func(f *fixture) {
				put(f, "x", "1")
				op := f.Call("b", ops.Discard, "1")
				put(f, "y", "1")
				f.Deletes("b", 0, "/q/x", 0)
				f.Ret(op, lin.OpOK, lin.Result{Output: "1"})
				f.take("c", "y")
				f.Left = &lin.Leftovers{}
			}},
			{Name: "wrong number", Bad: lin.Delivery,
				Says: `says that it removed 3 elements of the id "1", but it was 2`,
				Build: func(f *fixture) {
					three(f)
					f.discards("b", "1", "3", "x", "z")
				}},
			{Name: "another id", Bad: lin.Delivery, Says: "element y, offered by a, is lost",
				Build: func(f *fixture) {
					three(f)
					f.discards("b", "1", "2", "x", "z", "y")
				}},
			{Name: "counted by two", Bad: lin.Delivery, Says: "but it was 0", Build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "2", "x", "z")
				f.discards("c", "1", "1")
			}},
			{Name: "taken and counted", Bad: lin.Delivery, Says: "says that it removed 2 elements",
				Build: func(f *fixture) {
					three(f)
					f.take("c", "x")
					f.discards("b", "1", "2", "z")
				}},
			{Name: "discarded, then delivered", Bad: lin.Delivery,
				Says: "element x was removed by b's discard (steps 10 to 13), and delivered by c's " +
					"take",
				Build: func(f *fixture) {
					three(f)
					f.discards("b", "1", "2", "x", "z")
					f.finds("c", ops.Take, "x")
				}},
			{Name: "said not to be done", Bad: lin.Delivery,
				Says: "element x was removed by b's discard (steps 10 to 12, failed: connection " +
					"closed), which says that it was not", Build: func(f *fixture) {
					three(f)
					op := f.Call("b", ops.Discard, "1")
					f.Deletes("b", 0, "/q/x", 0)
					f.Ret(op, lin.OpFailed, lin.Result{})
				}},
			{Name: "reply lost", Build: func(f *fixture) {
				three(f)
				op := f.Call("b", ops.Discard, "1")
				f.Deletes("b", 0, "/q/x", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.take("b", "y")
			}},
			{Name: "overtakes what is discarded later", Bad: lin.Order,
				Says: "element x was in the queue before y", Build: func(f *fixture) {
					three(f)
					f.take("c", "y")
					f.discards("b", "1", "2", "x", "z")
				}},
			{Name: "not empty before it is discarded", Bad: lin.Linearizability,
				Says: "found the queue empty", Build: func(f *fixture) {
					put(f, "x", "1")
					f.finds("b", ops.Poll, "")
					f.discards("b", "1", "1", "x")
				}},
			{Name: "wrong order of the others", Bad: lin.Linearizability, Says: "y left first",
				Build: func(f *fixture) {
					put(f, "x", "1")
					put(f, "y", "2")
					f.take("b", "y")
					f.take("b", "x")
				}},
			{Name: "hangs", Bad: lin.Liveness, Says: "b's discard (step 1, pending) never returned",
				Build: func(f *fixture) {
					f.Call("b", ops.Discard, "1")
					f.Left = &lin.Leftovers{}
				}},
			{Name: "without a log", Build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "2", "x", "z")
				f.take("c", "y")
				f.H.Server = nil
				f.Left = &lin.Leftovers{}
			}},
			{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"}, Bad: lin.Orphans,
				Says: "/q/claims/1 is no element", Build: bookkeeping},
		})
}

// randomIDQueue makes valid histories of a queue with two ids.
func randomIDQueue(t *rapid.T) lin.History {
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	queue := []waiting{{"p", 0}, {"q", 1}, {"r", 0}}
	for _, w := range queue {
		f.offers("a", w.value, Identified(w.value, fmt.Sprint(w.rank)))
	}
	s.Begin = func(string) (kind, input string) {
		id := rapid.IntRange(0, 1).Draw(t, "id")
		switch kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Offer, ops.Poll,
			ops.Peek, ops.Discard}).Draw(t, "kind"); kind {
		case ops.Offer:
			return kind, Identified(fmt.Sprintf("v%d", len(s.H.Ops)), fmt.Sprint(id))
		case ops.Discard:
			return kind, fmt.Sprint(id)
		}
		return kind, ""
	}
	s.Apply = func(client, kind, input string) lin.Result {
		switch {
		case kind == ops.Offer:
			w := waiting{value: input[:len(input)-2], rank: int64(input[len(input)-1] - '0')}
			s.Creates(client, 0, "/q/"+w.value, w.value, 0)
			queue = append(queue, w)
			return lin.Result{}
		case kind == ops.Discard:
			step, _ := s.Next()
			before := len(queue)
			queue = slices.DeleteFunc(queue, func(w waiting) bool {
				if fmt.Sprint(w.rank) != input {
					return false
				}
				s.Deletes(client, 0, "/q/"+w.value, 0)
				s.H.Server[len(s.H.Server)-1].Step = step
				return true
			})
			return lin.Result{Output: fmt.Sprint(before - len(queue))}
		case len(queue) == 0:
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

func judgeSomeIDQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, WithIDs(atMostOnce))
}

func TestCorrectIDQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomIDQueue, judgeSomeIDQueue)
}

func TestBrokenIDQueuesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomIDQueue, judgeSomeIDQueue, []mutation{
		{"miscounts", func(t *rapid.T, h *lin.History) bool {
			op := judgingtest.One(t, h.Ops, judgingtest.Returned(ops.Discard))
			if op != nil {
				op.Output += "1"
			}
			return op != nil
		}, []string{lin.Delivery}, 70}, // without any change there is no log
		{"misses one", judgingtest.DropChange(ops.Discard), []string{lin.Delivery}, 80},
		{"said to have failed", judgingtest.SayFailed(ops.Discard), []string{lin.Delivery}, 60},
		{"out of nothing", neverStored, []string{lin.Linearizability}, 0},
		{"hangs", judgingtest.NeverReturns(ops.Discard, ops.Offer, ops.Poll, ops.Peek), []string{lin.Liveness}, 0},
	})
}
