package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// putsAt and takesAt are an offer and a take of the element that is stored at a path.
func (f *fixture) putsAt(client, path, value string) {
	op := f.call(client, ops.Offer, value)
	f.creates(client, 0, "/q/"+path, value, 0)
	f.ret(op, OpOK, Result{})
}

func (f *fixture) takesAt(client, path, value string) {
	op := f.call(client, ops.Take, "")
	f.deletes(client, 0, "/q/"+path, 0)
	f.ret(op, OpOK, Result{Output: value})
}

func TestEqualElements(t *testing.T) {
	putAll := func(f *fixture) {
		f.putsAt("a", "1", "x")
		f.putsAt("b", "2", "y")
		f.putsAt("a", "3", "x")
	}
	youngerBefore := func(f *fixture) {
		putAll(f)
		f.takesAt("c", "1", "x")
		f.takesAt("c", "3", "x")
		f.takesAt("c", "2", "y")
	}
	acknowledgedOnly := func(f *fixture) {
		f.putsAt("a", "1", "x")
		f.ret(f.call("b", ops.Offer, "x"), OpOK, Result{})
		f.takesAt("c", "1", "x")
		f.left = &Leftovers{}
	}
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "in their order", build: func(f *fixture) {
			putAll(f)
			f.takesAt("c", "1", "x")
			f.takesAt("c", "2", "y")
			f.takesAt("c", "3", "x")
			f.left = &Leftovers{}
		}},
		{name: "which of two left first is not seen", build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("a", "2", "x")
			f.putsAt("b", "3", "y")
			f.takesAt("c", "2", "x")
			f.takesAt("c", "1", "x")
			f.takesAt("c", "3", "y")
		}},
		{name: "one stays", build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("b", "2", "x")
			f.takesAt("c", "1", "x")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/2", Data: "x"}}}
		}},
		{name: "empty", build: func(f *fixture) {
			f.putsAt("a", "1", "")
			f.putsAt("b", "2", "")
			f.takesAt("c", "1", "")
			f.takesAt("c", "2", "")
		}},
		{name: "the younger before another", bad: Order,
			says: "element y was in the queue before x (2 of 2)", build: youngerBefore},
		{name: "the younger instead of the older", bad: Order,
			says: "element y was in the queue before x (2 of 2)", build: func(f *fixture) {
				putAll(f)
				f.takesAt("c", "3", "x")
				f.takesAt("c", "1", "x")
				f.takesAt("c", "2", "y")
			}},
		{name: "the younger is not linearizable", bad: Linearizability, says: "no order",
			build: youngerBefore},
		{name: "one for two", bad: Delivery,
			says:  "element x (2 of 2) is lost: b's offer (steps 4 to 5) was acknowledged",
			build: acknowledgedOnly},
		{name: "one for two, without the log", bad: Delivery, says: "x (2 of 2) is lost",
			build: func(f *fixture) {
				acknowledgedOnly(f)
				f.h.Server = nil
			}},
		{name: "one for an unknown one", build: func(f *fixture) {
			acknowledgedOnly(f)
			f.h.Ops[1].Outcome = OpUnknown
		}},
		{name: "one removed in vain", bad: Delivery,
			says: "element x (1 of 2), offered by a, is lost", build: func(f *fixture) {
				f.putsAt("a", "1", "x")
				f.putsAt("a", "2", "x")
				op := f.call("b", ops.Take, "")
				f.deletes("b", 0, "/q/1", 0)
				f.ret(op, OpUnknown, Result{})
				f.takesAt("b", "2", "x")
			}},
		{name: "three for two", bad: Delivery, says: "was delivered twice",
			build: func(f *fixture) {
				f.putsAt("a", "1", "x")
				f.putsAt("b", "2", "x")
				f.takesAt("c", "1", "x")
				f.takesAt("c", "2", "x")
				f.ret(f.call("b", ops.Take, ""), OpOK, Result{Output: "x"})
			}},
		{name: "three stored for two", bad: Delivery, says: "element x (1 of 2) was stored twice",
			build: func(f *fixture) {
				op := f.call("a", ops.Offer, "x")
				f.creates("a", 0, "/q/1", "x", 0)
				f.creates("a", 0, "/q/2", "x", 0)
				f.ret(op, OpOK, Result{})
				f.putsAt("b", "3", "x")
			}},
		{name: "three for two and an unknown one", build: func(f *fixture) {
			f.ret(f.call("a", ops.Offer, "x"), OpUnknown, Result{})
			op := f.call("a", ops.Offer, "x")
			f.creates("a", 0, "/q/1", "x", 0)
			f.creates("a", 0, "/q/2", "x", 0) // the late one
			f.ret(op, OpOK, Result{})
			f.putsAt("b", "3", "x")
		}},
		{name: "put back", build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("a", "2", "y")
			f.putsAt("a", "3", "x")
			op := f.call("b", ops.Take, "")
			f.deletes("b", 0, "/q/1", 0)
			f.takesAt("c", "2", "y")
			f.creates("b", 0, "/q/1", "x", 0)
			f.ret(op, OpFailed, Result{})
			f.takesAt("c", "1", "x")
			f.takesAt("c", "3", "x")
		}},
	})
}

func TestEqualElementsOfOtherRanksPanic(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "must have equal ranks") {
			t.Errorf("got %s", said)
		}
	}()
	f := &fixture{}
	f.offers("a", "x", Prioritized("x", 1))
	f.offers("a", "x", Prioritized("x", 2))
	Judge(f.history(), nil, PriorityQueue{})
}

// withEqualElements gives the elements of a history n different values.
func withEqualElements(h History, n int) History {
	value := func(text *string) {
		var number int
		if _, err := fmt.Sscanf(*text, "v%d", &number); err == nil {
			*text = fmt.Sprint("v", number%n)
		}
	}
	for i := range h.Ops {
		value(&h.Ops[i].Input)
		value(&h.Ops[i].Output)
	}
	h.Server = slices.Clone(h.Server)
	for i := range h.Server {
		value(&h.Server[i].Data)
	}
	return h
}

// TestCorrectQueuesOfEqualElementsAreFoundCorrect: a valid history stays valid when elements become
// equal, and loses no more. It may lose fewer: if a client lost an element and offers an equal one,
// that can be the first one, put back.
func TestCorrectQueuesOfEqualElementsAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, lost := randomQueue(t)
		h = withEqualElements(h, rapid.IntRange(1, 4).Draw(t, "values"))
		r := Judge(h, &Leftovers{}, atMostOnce)
		if r.Status() != OK || len(r.Lost) > len(lost) {
			t.Fatalf("lost %v\n%s\n%s", lost, r, dump(h))
		}
		if len(h.Ops) > 25 {
			return // without the log, many unknown outcomes cost too much
		}
		h.Server = nil
		if r := Judge(h, nil, atMostOnce); r.Status() == Violated {
			t.Fatalf("without the log:\n%s\n%s", r, dump(h))
		}
	})
}
