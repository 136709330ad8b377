package linearizability

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// discards records a complete discard of elements with an id.
func (f *fixture) discards(client, id, says string, elements ...string) {
	op := f.call(client, ops.Discard, id)
	for _, e := range elements {
		f.deletes(client, 0, "/q/"+e, 0)
	}
	f.ret(op, OpOK, Result{Output: says})
}

func TestIDQueue(t *testing.T) {
	put := func(f *fixture, value, id string) { f.offers("a", value, Identified(value, id)) }
	three := func(f *fixture) {
		put(f, "x", "1")
		put(f, "y", "2")
		put(f, "z", "1")
	}
	checkHistories(t, queueAt(func(q Queue) Claims { return IDQueue(q) }), []queueTest{
		{name: "by id and in order", build: func(f *fixture) {
			three(f)
			f.discards("b", "1", "2", "x", "z")
			f.take("c", "y")
			f.discards("b", "1", "0")
			f.finds("b", ops.Poll, "")
			f.left = &Leftovers{}
		}},
		{name: "one of them is missed", bad: Delivery,
			says: `element z of the id "1" stayed in the queue during b's discard`,
			build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "1", "x")
			}},
		{name: "offered meanwhile", build: func(f *fixture) {
			put(f, "x", "1")
			op := f.call("b", ops.Discard, "1")
			put(f, "y", "1")
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpOK, Result{Output: "1"})
			f.take("c", "y")
			f.left = &Leftovers{}
		}},
		{name: "wrong number", bad: Delivery,
			says: `says that it removed 3 elements of the id "1", but it was 2`,
			build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "3", "x", "z")
			}},
		{name: "another id", bad: Delivery, says: "element y, offered by a, is lost",
			build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "2", "x", "z", "y")
			}},
		{name: "counted by two", bad: Delivery, says: "but it was 0", build: func(f *fixture) {
			three(f)
			f.discards("b", "1", "2", "x", "z")
			f.discards("c", "1", "1")
		}},
		{name: "taken and counted", bad: Delivery, says: "says that it removed 2 elements",
			build: func(f *fixture) {
				three(f)
				f.take("c", "x")
				f.discards("b", "1", "2", "z")
			}},
		{name: "discarded, then delivered", bad: Delivery,
			says: "element x was removed by b's discard (steps 10 to 13), and delivered by c's " +
				"take",
			build: func(f *fixture) {
				three(f)
				f.discards("b", "1", "2", "x", "z")
				f.finds("c", ops.Take, "x")
			}},
		{name: "said not to be done", bad: Delivery,
			says: "element x was removed by b's discard (steps 10 to 12, failed: connection " +
				"closed), which says that it was not", build: func(f *fixture) {
				three(f)
				op := f.call("b", ops.Discard, "1")
				f.deletes("b", 0, "/q/x", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "reply lost", build: func(f *fixture) {
			three(f)
			op := f.call("b", ops.Discard, "1")
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpUnknown, Result{})
			f.take("b", "y")
		}},
		{name: "overtakes what is discarded later", bad: Order,
			says: "element x was in the queue before y", build: func(f *fixture) {
				three(f)
				f.take("c", "y")
				f.discards("b", "1", "2", "x", "z")
			}},
		{name: "not empty before it is discarded", bad: Linearizability,
			says: "found the queue empty", build: func(f *fixture) {
				put(f, "x", "1")
				f.finds("b", ops.Poll, "")
				f.discards("b", "1", "1", "x")
			}},
		{name: "wrong order of the others", bad: Linearizability, says: "y left first",
			build: func(f *fixture) {
				put(f, "x", "1")
				put(f, "y", "2")
				f.take("b", "y")
				f.take("b", "x")
			}},
		{name: "hangs", bad: Liveness, says: "b's discard (step 1, pending) never returned",
			build: func(f *fixture) {
				f.call("b", ops.Discard, "1")
				f.left = &Leftovers{}
			}},
		{name: "without a log", build: func(f *fixture) {
			three(f)
			f.discards("b", "1", "2", "x", "z")
			f.take("c", "y")
			f.h.Server = nil
			f.left = &Leftovers{}
		}},
		{name: "bookkeeping is left", opts: Queue{Path: "/q", Items: "/q/items"}, bad: Orphans,
			says: "/q/claims/1 is no element", build: bookkeeping},
	})
}

// randomIDQueue makes valid histories of a queue with two ids.
func randomIDQueue(t *rapid.T) History {
	s := &simulator{t: t}
	queue := []waiting{{"p", 0}, {"q", 1}, {"r", 0}}
	for _, w := range queue {
		s.offers("a", w.value, Identified(w.value, fmt.Sprint(w.rank)))
	}
	s.begin = func(string) (kind, input string) {
		id := rapid.IntRange(0, 1).Draw(t, "id")
		switch kind = rapid.SampledFrom([]string{ops.Offer, ops.Offer, ops.Offer, ops.Poll,
			ops.Peek, ops.Discard}).Draw(t, "kind"); kind {
		case ops.Offer:
			return kind, Identified(fmt.Sprintf("v%d", len(s.h.Ops)), fmt.Sprint(id))
		case ops.Discard:
			return kind, fmt.Sprint(id)
		}
		return kind, ""
	}
	s.apply = func(client, kind, input string) Result {
		switch {
		case kind == ops.Offer:
			w := waiting{value: input[:len(input)-2], rank: int64(input[len(input)-1] - '0')}
			s.creates(client, 0, "/q/"+w.value, w.value, 0)
			queue = append(queue, w)
			return Result{}
		case kind == ops.Discard:
			step, _ := s.next()
			before := len(queue)
			queue = slices.DeleteFunc(queue, func(w waiting) bool {
				if fmt.Sprint(w.rank) != input {
					return false
				}
				s.deletes(client, 0, "/q/"+w.value, 0)
				s.h.Server[len(s.h.Server)-1].Step = step
				return true
			})
			return Result{Output: fmt.Sprint(before - len(queue))}
		case len(queue) == 0:
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

func judgeSomeIDQueue(h History) Report { return Judge(h, &Leftovers{}, IDQueue(atMostOnce)) }

func TestCorrectIDQueuesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomIDQueue, judgeSomeIDQueue)
}

func TestBrokenIDQueuesAreFoundBroken(t *testing.T) {
	checkMutations(t, randomIDQueue, judgeSomeIDQueue, []mutation{
		{"miscounts", func(t *rapid.T, h *History) bool {
			op := one(t, h.Ops, returned(ops.Discard))
			if op != nil {
				op.Output += "1"
			}
			return op != nil
		}, []string{Delivery}, 70}, // without any change there is no log
		{"misses one", dropChange(ops.Discard), []string{Delivery}, 80},
		{"said to have failed", sayFailed(ops.Discard), []string{Delivery}, 60},
		{"out of nothing", neverStored, []string{Linearizability}, 0},
		{"hangs", neverReturns(ops.Discard, ops.Offer, ops.Poll, ops.Peek), []string{Liveness}, 0},
	})
}
