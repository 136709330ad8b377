package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// putsAt and takesAt are an offer and a take of the element that is stored at a path.
func (f *fixture) putsAt(client, path, value string) {
	op := f.Call(client, ops.Offer, value)
	f.Creates(client, 0, "/q/"+path, value, 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

func (f *fixture) takesAt(client, path, value string) {
	op := f.Call(client, ops.Take, "")
	f.Deletes(client, 0, "/q/"+path, 0)
	f.Ret(op, lin.OpOK, lin.Result{Output: value})
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
		f.Ret(f.Call("b", ops.Offer, "x"), lin.OpOK, lin.Result{})
		f.takesAt("c", "1", "x")
		f.Left = &lin.Leftovers{}
	}
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "in their order", Build: func(f *fixture) {
			putAll(f)
			f.takesAt("c", "1", "x")
			f.takesAt("c", "2", "y")
			f.takesAt("c", "3", "x")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "which of two left first is not seen", Build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("a", "2", "x")
			f.putsAt("b", "3", "y")
			f.takesAt("c", "2", "x")
			f.takesAt("c", "1", "x")
			f.takesAt("c", "3", "y")
		}},
		{Name: "one stays", Build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("b", "2", "x")
			f.takesAt("c", "1", "x")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/2", Data: "x"}}}
		}},
		{Name: "empty", Build: func(f *fixture) {
			f.putsAt("a", "1", "")
			f.putsAt("b", "2", "")
			f.takesAt("c", "1", "")
			f.takesAt("c", "2", "")
		}},
		{Name: "the younger before another", Bad: lin.Order,
			Says: "element y was in the queue before x (2 of 2)", Build: youngerBefore},
		{Name: "the younger instead of the older", Bad: lin.Order,
			Says: "element y was in the queue before x (2 of 2)", Build: func(f *fixture) {
				putAll(f)
				f.takesAt("c", "3", "x")
				f.takesAt("c", "1", "x")
				f.takesAt("c", "2", "y")
			}},
		{Name: "the younger is not linearizable", Bad: lin.Linearizability, Says: "no order",
			Build: youngerBefore},
		{Name: "one for two", Bad: lin.Delivery,
			Says:  "element x (2 of 2) is lost: b's offer (steps 4 to 5) was acknowledged",
			Build: acknowledgedOnly},
		{Name: "one for two, without the log", Bad: lin.Delivery, Says: "x (2 of 2) is lost",
			Build: func(f *fixture) {
				acknowledgedOnly(f)
				f.H.Server = nil
			}},
		{Name: "one for an unknown one", Build: func(f *fixture) {
			acknowledgedOnly(f)
			f.H.Ops[1].Outcome = lin.OpUnknown
		}},
		{Name: "one removed in vain", Bad: lin.Delivery,
			Says: "element x (1 of 2), offered by a, is lost", Build: func(f *fixture) {
				f.putsAt("a", "1", "x")
				f.putsAt("a", "2", "x")
				op := f.Call("b", ops.Take, "")
				f.Deletes("b", 0, "/q/1", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.takesAt("b", "2", "x")
			}},
		{Name: "three for two", Bad: lin.Delivery, Says: "was delivered twice",
			Build: func(f *fixture) {
				f.putsAt("a", "1", "x")
				f.putsAt("b", "2", "x")
				f.takesAt("c", "1", "x")
				f.takesAt("c", "2", "x")
				f.Ret(f.Call("b", ops.Take, ""), lin.OpOK, lin.Result{Output: "x"})
			}},
		{Name: "three stored for two", Bad: lin.Delivery, Says: "element x (1 of 2) was stored twice",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Offer, "x")
				f.Creates("a", 0, "/q/1", "x", 0)
				f.Creates("a", 0, "/q/2", "x", 0)
				f.Ret(op, lin.OpOK, lin.Result{})
				f.putsAt("b", "3", "x")
			}},
		{Name: "three for two and an unknown one", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Offer, "x"), lin.OpUnknown, lin.Result{})
			op := f.Call("a", ops.Offer, "x")
			f.Creates("a", 0, "/q/1", "x", 0)
			f.Creates("a", 0, "/q/2", "x", 0) // the late one
			f.Ret(op, lin.OpOK, lin.Result{})
			f.putsAt("b", "3", "x")
		}},
		{Name: "put back", Build: func(f *fixture) {
			f.putsAt("a", "1", "x")
			f.putsAt("a", "2", "y")
			f.putsAt("a", "3", "x")
			op := f.Call("b", ops.Take, "")
			f.Deletes("b", 0, "/q/1", 0)
			f.takesAt("c", "2", "y")
			f.Creates("b", 0, "/q/1", "x", 0)
			f.Ret(op, lin.OpFailed, lin.Result{})
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
	judgingtest.Judge(f.History(), nil, Priority{})
}

// withEqualElements gives the elements of a history n different values.
func withEqualElements(h lin.History, n int) lin.History {
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
		r := judgingtest.Judge(h, &lin.Leftovers{}, atMostOnce)
		if r.Status() != lin.OK || len(r.Lost) > len(lost) {
			t.Fatalf("lost %v\n%s\n%s", lost, r, judgingtest.Dump(h))
		}
		if len(h.Ops) > 25 {
			return // without the log, many unknown outcomes cost too much
		}
		h.Server = nil
		if r := judgingtest.Judge(h, nil, atMostOnce); r.Status() == lin.Violated {
			t.Fatalf("without the log:\n%s\n%s", r, judgingtest.Dump(h))
		}
	})
}
