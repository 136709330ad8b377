package linearizability

import (
	"cmp"
	"reflect"
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

type queueTest = historyTest[Queue]

func plainQueue(q Queue) Claims { return q }

// queueAt makes claims of a kind, for the directory /q by default.
func queueAt(kind func(Queue) Claims) func(Queue) Claims {
	return func(opts Queue) Claims {
		opts.Path = cmp.Or(opts.Path, "/q")
		return kind(opts)
	}
}

func TestQueueOrderAndLinearizability(t *testing.T) {
	wrongOrder := func(f *fixture) {
		f.offer("a", "x")
		f.offer("a", "y")
		f.take("b", "y")
		f.take("b", "x")
	}
	notEmpty := func(f *fixture) {
		f.offer("a", "x")
		f.ret(f.call("b", ops.Poll, ""), OpOK, Result{Empty: true})
		f.take("b", "x")
	}
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "first in, first out", build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.ret(f.call("b", ops.Peek, ""), OpOK, Result{Output: "x"})
			f.take("b", "x")
			f.take("b", "y")
			f.ret(f.call("b", ops.Poll, ""), OpOK, Result{Empty: true})
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q"}}}
		}},
		{name: "wrong order", bad: Order, build: wrongOrder,
			says: "element x was in the queue before y (a's offer (steps 1 to 3), a's offer " +
				"(steps 4 to 6)), but y left first, by b's take (steps 7 to 9), x after that by " +
				"b's take (steps 10 to 12)"},
		{name: "wrong order is not linearizable", bad: Linearizability, says: "y left first",
			build: wrongOrder},
		{name: "no claim to order", opts: Queue{Unordered: true}, build: wrongOrder},
		{name: "concurrent offers, order of the server", bad: Order,
			says: "element y was in the queue before x", build: func(f *fixture) {
				x, y := f.call("a", ops.Offer, "x"), f.call("b", ops.Offer, "y")
				f.creates("b", 0, "/q/y", "y", 0)
				f.creates("a", 0, "/q/x", "x", 0)
				f.ret(x, OpOK, Result{})
				f.ret(y, OpOK, Result{})
				f.take("c", "x")
			}},
		{name: "never offered", bad: Linearizability,
			says: "returned element ghost, which was never in the queue",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.ret(f.call("b", ops.Take, ""), OpOK, Result{Output: "ghost"})
			}},
		{name: "not empty", bad: Linearizability,
			says: "b's poll (steps 4 to 5) found the queue empty, although it never was " +
				"meanwhile: element x", build: notEmpty},
		{name: "stale empty", opts: Queue{StaleReads: true}, build: notEmpty},
		{name: "too stale", opts: Queue{StaleReads: true}, bad: Linearizability,
			says: "since the client's own last change at step 2",
			build: func(f *fixture) {
				f.offer("b", "x")
				f.ret(f.call("b", ops.Poll, ""), OpOK, Result{Empty: true})
			}},
		{name: "covered by two elements", bad: Linearizability, says: "found the queue empty",
			build: func(f *fixture) {
				f.offer("a", "x")
				op := f.call("b", ops.Poll, "")
				f.offer("a", "y")
				f.take("c", "x")
				f.ret(op, OpOK, Result{Empty: true})
			}},
		{name: "empty for a moment", build: func(f *fixture) {
			f.offer("a", "x")
			op := f.call("b", ops.Poll, "")
			f.take("c", "x")
			f.offer("a", "y")
			f.ret(op, OpOK, Result{Empty: true})
		}},
		{name: "peek at the second", bad: Linearizability,
			says: "it goes wrong with b: peek() -> y", build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.ret(f.call("b", ops.Peek, ""), OpOK, Result{Output: "y"})
			}},
	})
}

func TestQueueDelivery(t *testing.T) {
	lostReply := func(f *fixture) {
		f.offer("a", "x")
		op := f.call("b", ops.Take, "")
		f.deletes("b", 0, "/q/x", 0)
		f.ret(op, OpUnknown, Result{})
		f.left = &Leftovers{}
	}
	storedTwice := func(f *fixture) {
		op := f.call("a", ops.Offer, "x")
		f.creates("a", 0, "/q/1", "x", 0)
		f.creates("a", 0, "/q/2", "x", 0)
		f.ret(op, OpOK, Result{})
		for _, path := range []string{"/q/1", "/q/2"} {
			op := f.call("b", ops.Take, "")
			f.deletes("b", 0, path, 0)
			f.ret(op, OpOK, Result{Output: "x"})
		}
	}
	redelivered := func(f *fixture) {
		f.offer("a", "x")
		f.ret(f.call("b", ops.Take, ""), OpOK, Result{Output: "x"})
		f.take("c", "x")
	}
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "reply lost", bad: Delivery, build: lostReply,
			says: "element x, offered by a, is lost: b's take (steps 4 to 6, unknown: " +
				"connection closed) removed /q/x at step 5, but its reply was lost, and nobody " +
				"ever got the element"},
		{name: "reply lost, at most once", opts: Queue{MayLose: true}, build: lostReply},
		{name: "reply lost, but handed over as ambiguous", build: func(f *fixture) {
			lostReply(f)
			f.h.Ops[1].Output = "x"
		}},
		{name: "request lost", build: func(f *fixture) {
			f.offer("a", "x")
			f.ret(f.call("b", ops.Take, ""), OpUnknown, Result{})
			f.take("b", "x")
		}},
		{name: "offer unknown, never applied", build: func(f *fixture) {
			f.ret(f.call("a", ops.Offer, "x"), OpUnknown, Result{})
			f.offer("a", "y")
			f.take("b", "y")
			f.left = &Leftovers{}
		}},
		{name: "offer unknown, applied late", build: func(f *fixture) {
			f.ret(f.call("a", ops.Offer, "x"), OpUnknown, Result{})
			f.offer("b", "y")
			f.creates("a", 0, "/q/x", "x", 0)
			f.take("b", "y")
			f.take("b", "x")
		}},
		{name: "acknowledged, never stored", bad: Delivery,
			says: "a's offer (steps 2 to 3) was acknowledged, but no znode was ever created",
			build: func(f *fixture) {
				f.starts("a", 1)
				f.ret(f.call("a", ops.Offer, "x"), OpOK, Result{})
			}},
		{name: "said to have failed", bad: Delivery,
			says: "element x is in the queue since step 2, although a's offer",
			build: func(f *fixture) {
				op := f.call("a", ops.Offer, "x")
				f.creates("a", 0, "/q/x", "x", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{
			name: "stored twice", bad: Delivery, says: "element x was delivered twice",
			build: storedTwice,
		},
		{name: "stored twice is not linearizable", bad: Linearizability,
			says: "element x was taken twice", build: storedTwice},
		{name: "stored twice, at least once", opts: Queue{MayDuplicate: true}, build: storedTwice},
		{name: "stored twice, not yet delivered", bad: Delivery,
			says: "element x was stored twice: a's offer (steps 1 to 4) created /q/1 at step 2 " +
				"and /q/2 at step 3", build: func(f *fixture) {
				storedTwice(f)
				f.h.Ops, f.h.Server = f.h.Ops[:1], f.h.Server[:2]
			}},
		{name: "redelivered", bad: Delivery, says: "element x was delivered twice: by b's take",
			build: redelivered},
		{name: "redelivered, at least once", opts: Queue{MayDuplicate: true}, build: redelivered},
		{name: "somebody else deleted it", bad: Delivery,
			says: "the server deleted /q/x at step 4, outside of any take",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.deletes("", 0, "/q/x", 0)
			}},
	})
}

func TestQueueWithoutServerLog(t *testing.T) {
	put := func(f *fixture, value string) { f.ret(f.call("a", ops.Offer, value), OpOK, Result{}) }
	get := func(f *fixture, value string) {
		f.ret(f.call("b", ops.Take, ""), OpOK, Result{Output: value})
	}
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "good", build: func(f *fixture) { put(f, "x"); get(f, "x"); f.left = &Leftovers{} }},
		{name: "unknown take may have taken it", build: func(f *fixture) {
			put(f, "x")
			put(f, "y")
			f.ret(f.call("b", ops.Take, ""), OpUnknown, Result{})
			get(f, "y")
		}},
		{name: "nobody can have taken it", bad: Linearizability, says: "and x is still there",
			build: func(f *fixture) {
				put(f, "x")
				put(f, "y")
				get(f, "y")
			}},
		{name: "gone at rest", bad: Delivery,
			says: "perhaps b's take (steps 3 to 4, unknown: connection closed) took it",
			build: func(f *fixture) {
				put(f, "x")
				f.ret(f.call("b", ops.Take, ""), OpUnknown, Result{})
				f.left = &Leftovers{}
			}},
		{name: "still there at rest", build: func(f *fixture) {
			put(f, "x")
			f.ret(f.call("b", ops.Take, ""), OpUnknown, Result{})
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
		}},
		{name: "unknown offer may have happened", build: func(f *fixture) {
			f.ret(f.call("a", ops.Offer, "x"), OpUnknown, Result{})
			get(f, "x")
		}},
		{name: "failed offer has not", bad: Linearizability, says: "no order",
			build: func(f *fixture) {
				f.ret(f.call("a", ops.Offer, "x"), OpFailed, Result{})
				get(f, "x")
			}},
	})
}

func TestQueueLivenessAndOrphans(t *testing.T) {
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "waiting for an empty queue", build: func(f *fixture) {
			f.call("b", ops.Take, "")
			f.left = &Leftovers{}
		}},
		{name: "waiting beside an element", bad: Liveness,
			says: "client b waits in take (called at step 1) although element x is there " +
				"(/q/x); it waits for a watch on /q", build: func(f *fixture) {
				f.call("b", ops.Take, "")
				f.offer("a", "x")
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}},
					Waiting: []Wait{{Client: "b", Op: ops.Take, Path: "/q"}}}
			}},
		{name: "offer hangs", bad: Liveness, says: "a's offer (step 1, pending) never returned",
			build: func(f *fixture) {
				f.call("a", ops.Offer, "x")
				f.left = &Leftovers{}
			}},
		{name: "bookkeeping is left", opts: Queue{Path: "/q", Items: "/q/items"}, bad: Orphans,
			says: "/q/claims/1 is no element of the queue", build: bookkeeping},
		{name: "bookkeeping may stay", opts: Queue{Path: "/q", Items: "/q/items",
			AllowedAtRest: []string{"/q/claims/*"}}, build: bookkeeping},
	})
}

func bookkeeping(f *fixture) {
	op := f.call("a", ops.Offer, "x")
	f.creates("a", 0, "/q/items/1", "x", 0)
	f.creates("a", 0, "/q/claims/1", "x", 0)
	f.ret(op, OpOK, Result{})
	f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/items"}, {Path: "/q/items/1", Data: "x"},
		{Path: "/q/claims"}, {Path: "/q/claims/1", Data: "x"}}}
}

func TestLostAndDuplicatedAreCounted(t *testing.T) {
	f := &fixture{}
	f.offer("a", "x")
	f.offer("a", "y")
	op := f.call("b", ops.Take, "")
	f.deletes("b", 0, "/q/x", 0)
	f.ret(op, OpUnknown, Result{})
	f.take("b", "y")
	f.ret(f.call("c", ops.Take, ""), OpOK, Result{Output: "y"})
	r := Judge(f.history(), nil, Queue{Path: "/q"})
	if !reflect.DeepEqual(r.Lost, []string{"x"}) ||
		!reflect.DeepEqual(r.Duplicated, []string{"y"}) {
		t.Errorf("lost %v, duplicated %v", r.Lost, r.Duplicated)
	}
}

// offer records a complete offer.
func (f *fixture) offer(client string, value string) {
	op := f.call(client, ops.Offer, value)
	f.creates(client, 0, "/q/"+value, value, 0)
	f.ret(op, OpOK, Result{})
}

// take records a complete take.
func (f *fixture) take(client string, value string) {
	op := f.call(client, ops.Take, "")
	f.deletes(client, 0, "/q/"+value, 0)
	f.ret(op, OpOK, Result{Output: value})
}
