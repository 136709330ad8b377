package queue

import (
	"cmp"
	"reflect"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

type queueTest = historyTest[Claims]

func plainQueue(q Claims) lin.Claims { return q }

// queueAt makes claims of a kind, for the directory /q by default.
func queueAt(kind func(Claims) lin.Claims) func(Claims) lin.Claims {
	return func(opts Claims) lin.Claims {
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
		f.Ret(f.Call("b", ops.Poll, ""), lin.OpOK, lin.Result{Empty: true})
		f.take("b", "x")
	}
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "first in, first out", Build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.Ret(f.Call("b", ops.Peek, ""), lin.OpOK, lin.Result{Output: "x"})
			f.take("b", "x")
			f.take("b", "y")
			f.Ret(f.Call("b", ops.Poll, ""), lin.OpOK, lin.Result{Empty: true})
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q"}}}
		}},
		{Name: "wrong order", Bad: lin.Order, Build: wrongOrder,
			Says: "element x was in the queue before y (a's offer (steps 1 to 3), a's offer " +
				"(steps 4 to 6)), but y left first, by b's take (steps 7 to 9), x after that by " +
				"b's take (steps 10 to 12)"},
		{Name: "wrong order is not linearizable", Bad: lin.Linearizability, Says: "y left first",
			Build: wrongOrder},
		{Name: "no claim to order", Opts: Claims{Unordered: true}, Build: wrongOrder},
		{Name: "concurrent offers, order of the server", Bad: lin.Order,
			Says: "element y was in the queue before x", Build: func(f *fixture) {
				x, y := f.Call("a", ops.Offer, "x"), f.Call("b", ops.Offer, "y")
				f.Creates("b", 0, "/q/y", "y", 0)
				f.Creates("a", 0, "/q/x", "x", 0)
				f.Ret(x, lin.OpOK, lin.Result{})
				f.Ret(y, lin.OpOK, lin.Result{})
				f.take("c", "x")
			}},
		{Name: "never offered", Bad: lin.Linearizability,
			Says: "returned element ghost, which was never in the queue",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.Ret(f.Call("b", ops.Take, ""), lin.OpOK, lin.Result{Output: "ghost"})
			}},
		{Name: "not empty", Bad: lin.Linearizability,
			Says: "b's poll (steps 4 to 5) found the queue empty, although it never was " +
				"meanwhile: element x", Build: notEmpty},
		{Name: "stale empty", Opts: Claims{StaleReads: true}, Build: notEmpty},
		{Name: "too stale", Opts: Claims{StaleReads: true}, Bad: lin.Linearizability,
			Says: "since the client's own last change at step 2",
			Build: func(f *fixture) {
				f.offer("b", "x")
				f.Ret(f.Call("b", ops.Poll, ""), lin.OpOK, lin.Result{Empty: true})
			}},
		{Name: "covered by two elements", Bad: lin.Linearizability, Says: "found the queue empty",
			Build: func(f *fixture) {
				f.offer("a", "x")
				op := f.Call("b", ops.Poll, "")
				f.offer("a", "y")
				f.take("c", "x")
				f.Ret(op, lin.OpOK, lin.Result{Empty: true})
			}},
		{Name: "empty for a moment", Build: func(f *fixture) {
			f.offer("a", "x")
			op := f.Call("b", ops.Poll, "")
			f.take("c", "x")
			f.offer("a", "y")
			f.Ret(op, lin.OpOK, lin.Result{Empty: true})
		}},
		{Name: "peek at the second", Bad: lin.Linearizability,
			Says: "it goes wrong with b: peek() -> y", Build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.Ret(f.Call("b", ops.Peek, ""), lin.OpOK, lin.Result{Output: "y"})
			}},
	})
}

func TestQueueDelivery(t *testing.T) {
	lostReply := func(f *fixture) {
		f.offer("a", "x")
		op := f.Call("b", ops.Take, "")
		f.Deletes("b", 0, "/q/x", 0)
		f.Ret(op, lin.OpUnknown, lin.Result{})
		f.Left = &lin.Leftovers{}
	}
	storedTwice := func(f *fixture) {
		op := f.Call("a", ops.Offer, "x")
		f.Creates("a", 0, "/q/1", "x", 0)
		f.Creates("a", 0, "/q/2", "x", 0)
		f.Ret(op, lin.OpOK, lin.Result{})
		for _, path := range []string{"/q/1", "/q/2"} {
			op := f.Call("b", ops.Take, "")
			f.Deletes("b", 0, path, 0)
			f.Ret(op, lin.OpOK, lin.Result{Output: "x"})
		}
	}
	redelivered := func(f *fixture) {
		f.offer("a", "x")
		f.Ret(f.Call("b", ops.Take, ""), lin.OpOK, lin.Result{Output: "x"})
		f.take("c", "x")
	}
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "reply lost", Bad: lin.Delivery, Build: lostReply,
			Says: "element x, offered by a, is lost: b's take (steps 4 to 6, unknown: " +
				"connection closed) removed /q/x at step 5, but its reply was lost, and nobody " +
				"ever got the element"},
		{Name: "reply lost, at most once", Opts: Claims{MayLose: true}, Build: lostReply},
		{Name: "reply lost, but handed over as ambiguous", Build: func(f *fixture) {
			lostReply(f)
			f.H.Ops[1].Output = "x"
		}},
		{Name: "request lost", Build: func(f *fixture) {
			f.offer("a", "x")
			f.Ret(f.Call("b", ops.Take, ""), lin.OpUnknown, lin.Result{})
			f.take("b", "x")
		}},
		{Name: "offer unknown, never applied", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Offer, "x"), lin.OpUnknown, lin.Result{})
			f.offer("a", "y")
			f.take("b", "y")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "offer unknown, applied late", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Offer, "x"), lin.OpUnknown, lin.Result{})
			f.offer("b", "y")
			f.Creates("a", 0, "/q/x", "x", 0)
			f.take("b", "y")
			f.take("b", "x")
		}},
		{Name: "acknowledged, never stored", Bad: lin.Delivery,
			Says: "a's offer (steps 2 to 3) was acknowledged, but no znode was ever created",
			Build: func(f *fixture) {
				f.Starts("a", 1)
				f.Ret(f.Call("a", ops.Offer, "x"), lin.OpOK, lin.Result{})
			}},
		{Name: "said to have failed", Bad: lin.Delivery,
			Says: "element x is in the queue since step 2, although a's offer",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Offer, "x")
				f.Creates("a", 0, "/q/x", "x", 0)
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{
			Name: "stored twice", Bad: lin.Delivery, Says: "element x was delivered twice",
			Build: storedTwice,
		},
		{Name: "stored twice is not linearizable", Bad: lin.Linearizability,
			Says: "element x was taken twice", Build: storedTwice},
		{Name: "stored twice, at least once", Opts: Claims{MayDuplicate: true}, Build: storedTwice},
		{Name: "stored twice, not yet delivered", Bad: lin.Delivery,
			Says: "element x was stored twice: a's offer (steps 1 to 4) created /q/1 at step 2 " +
				"and /q/2 at step 3", Build: func(f *fixture) {
				storedTwice(f)
				f.H.Ops, f.H.Server = f.H.Ops[:1], f.H.Server[:2]
			}},
		{Name: "redelivered", Bad: lin.Delivery, Says: "element x was delivered twice: by b's take",
			Build: redelivered},
		{Name: "redelivered, at least once", Opts: Claims{MayDuplicate: true}, Build: redelivered},
		{Name: "somebody else deleted it", Bad: lin.Delivery,
			Says: "the server deleted /q/x at step 4, outside of any take",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.Deletes("", 0, "/q/x", 0)
			}},
	})
}

func TestQueueWithoutServerLog(t *testing.T) {
	put := func(f *fixture, value string) { f.Ret(f.Call("a", ops.Offer, value), lin.OpOK, lin.Result{}) }
	get := func(f *fixture, value string) {
		f.Ret(f.Call("b", ops.Take, ""), lin.OpOK, lin.Result{Output: value})
	}
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "good", Build: func(f *fixture) { put(f, "x"); get(f, "x"); f.Left = &lin.Leftovers{} }},
		{Name: "unknown take may have taken it", Build: func(f *fixture) {
			put(f, "x")
			put(f, "y")
			f.Ret(f.Call("b", ops.Take, ""), lin.OpUnknown, lin.Result{})
			get(f, "y")
		}},
		{Name: "nobody can have taken it", Bad: lin.Linearizability, Says: "and x is still there",
			Build: func(f *fixture) {
				put(f, "x")
				put(f, "y")
				get(f, "y")
			}},
		{Name: "gone at rest", Bad: lin.Delivery,
			Says: "perhaps b's take (steps 3 to 4, unknown: connection closed) took it",
			Build: func(f *fixture) {
				put(f, "x")
				f.Ret(f.Call("b", ops.Take, ""), lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{}
			}},
		{Name: "still there at rest", Build: func(f *fixture) {
			put(f, "x")
			f.Ret(f.Call("b", ops.Take, ""), lin.OpUnknown, lin.Result{})
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
		}},
		{Name: "unknown offer may have happened", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Offer, "x"), lin.OpUnknown, lin.Result{})
			get(f, "x")
		}},
		{Name: "failed offer has not", Bad: lin.Linearizability, Says: "no order",
			Build: func(f *fixture) {
				f.Ret(f.Call("a", ops.Offer, "x"), lin.OpFailed, lin.Result{})
				get(f, "x")
			}},
	})
}

func TestQueueLivenessAndOrphans(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "waiting for an empty queue", Build: func(f *fixture) {
			f.Call("b", ops.Take, "")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "waiting beside an element", Bad: lin.Liveness,
			Says: "client b waits in take (called at step 1) although element x is there " +
				"(/q/x); it waits for a watch on /q", Build: func(f *fixture) {
				f.Call("b", ops.Take, "")
				f.offer("a", "x")
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}},
					Waiting: []lin.Wait{{Client: "b", Op: ops.Take, Path: "/q"}}}
			}},
		{Name: "offer hangs", Bad: lin.Liveness, Says: "a's offer (step 1, pending) never returned",
			Build: func(f *fixture) {
				f.Call("a", ops.Offer, "x")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"}, Bad: lin.Orphans,
			Says: "/q/claims/1 is no element of the queue", Build: bookkeeping},
		{Name: "bookkeeping may stay", Opts: Claims{Path: "/q", Items: "/q/items",
			AllowedAtRest: []string{"/q/claims/*"}}, Build: bookkeeping},
	})
}

func bookkeeping(f *fixture) {
	op := f.Call("a", ops.Offer, "x")
	f.Creates("a", 0, "/q/items/1", "x", 0)
	f.Creates("a", 0, "/q/claims/1", "x", 0)
	f.Ret(op, lin.OpOK, lin.Result{})
	f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/items"}, {Path: "/q/items/1", Data: "x"},
		{Path: "/q/claims"}, {Path: "/q/claims/1", Data: "x"}}}
}

func TestLostAndDuplicatedAreCounted(t *testing.T) {
	f := &fixture{}
	f.offer("a", "x")
	f.offer("a", "y")
	op := f.Call("b", ops.Take, "")
	f.Deletes("b", 0, "/q/x", 0)
	f.Ret(op, lin.OpUnknown, lin.Result{})
	f.take("b", "y")
	f.Ret(f.Call("c", ops.Take, ""), lin.OpOK, lin.Result{Output: "y"})
	r := judgingtest.Judge(f.History(), nil, Claims{Path: "/q"})
	if !reflect.DeepEqual(r.Lost, []string{"x"}) ||
		!reflect.DeepEqual(r.Duplicated, []string{"y"}) {
		t.Errorf("lost %v, duplicated %v", r.Lost, r.Duplicated)
	}
}

// offer records a complete offer.
func (f *fixture) offer(client string, value string) {
	op := f.Call(client, ops.Offer, value)
	f.Creates(client, 0, "/q/"+value, value, 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

// take records a complete take.
func (f *fixture) take(client string, value string) {
	op := f.Call(client, ops.Take, "")
	f.Deletes(client, 0, "/q/"+value, 0)
	f.Ret(op, lin.OpOK, lin.Result{Output: value})
}
