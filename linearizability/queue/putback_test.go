package queue

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// takeBack removes an element and puts it back under its old name.
func (f *fixture) takeBack(client, value string) {
	op := f.Call(client, ops.Take, "")
	f.Deletes(client, 0, "/q/"+value, 0)
	f.Creates(client, 0, "/q/"+value, value, 0)
	f.Ret(op, lin.OpFailed, lin.Result{})
}

func TestElementsPutBack(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "then delivered", Build: func(f *fixture) {
			f.offer("a", "x")
			f.takeBack("b", "x")
			f.take("c", "x")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "overtaken meanwhile", Build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			op := f.Call("b", ops.Take, "")
			f.Deletes("b", 0, "/q/x", 0)
			f.take("c", "y")
			f.Creates("b", 0, "/q/x", "x", 0)
			f.Ret(op, lin.OpFailed, lin.Result{})
			f.Ret(f.Call("c", ops.Peek, ""), lin.OpOK, lin.Result{Output: "x"})
			f.take("c", "x")
		}},
		{Name: "overtaken before", Bad: lin.Order, Says: "x after that by b's take",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.take("c", "y")
				f.takeBack("b", "x")
				f.take("b", "x")
			}},
		{Name: "overtakes an older one", Bad: lin.Order, Says: "element x was in the queue before y",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.takeBack("b", "y")
				f.take("b", "y")
				f.take("b", "x")
			}},
		{Name: "by somebody else", Bad: lin.Delivery, Says: "element x was stored twice",
			Build: func(f *fixture) {
				f.offer("a", "x")
				op := f.Call("b", ops.Take, "")
				f.Deletes("b", 0, "/q/x", 0)
				f.Creates("a", 0, "/q/x", "x", 0) // a's offer, once more
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{Name: "while it is still there", Bad: lin.Delivery, Says: "element x was stored twice",
			Build: func(f *fixture) {
				f.offer("a", "x")
				op := f.Call("b", ops.Take, "")
				f.Creates("b", 0, "/q/x2", "x", 0)
				f.Deletes("b", 0, "/q/x", 0)
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{Name: "although it was delivered", Bad: lin.Delivery,
			Says: "element x was stored again: b's take (steps 4 to 6) got it, and b created " +
				"/q/x at step 7 after that", Build: func(f *fixture) {
				f.offer("a", "x")
				f.take("b", "x")
				f.Creates("b", 0, "/q/x", "x", 0)
			}},
		{Name: "lost in the end", Bad: lin.Delivery, Says: "element x, offered by a, is lost",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.takeBack("b", "x")
				op := f.Call("c", ops.Take, "")
				f.Deletes("c", 0, "/q/x", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
			}},
		{Name: "stale peek beside it", Opts: Claims{StaleReads: true}, Build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.takeBack("b", "x")
			f.Ret(f.Call("b", ops.Peek, ""), lin.OpOK, lin.Result{Output: "x"})
		}},
		{Name: "empty beside its first stay", Bad: lin.Linearizability, Says: "found the queue empty",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.Ret(f.Call("b", ops.Poll, ""), lin.OpOK, lin.Result{Empty: true})
				f.takeBack("b", "x")
			}},
	})
}

func TestTakesThatGiveUp(t *testing.T) {
	patient := Claims{Patience: 5 * time.Millisecond} // five steps
	gives := func(during func(f *fixture), wait int) func(f *fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			op := f.Call("b", ops.Take, "")
			during(f)
			for range wait {
				f.Next()
			}
			f.Ret(op, lin.OpFailed, lin.Result{})
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
		}
	}
	nothing := func(*fixture) {}
	again := func(f *fixture) {
		f.Deletes("b", 0, "/q/x", 0)
		f.Creates("b", 0, "/q/x", "x", 0)
	}
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "beside an element", Opts: patient, Bad: lin.Liveness, Build: gives(nothing, 4),
			Says: "take of b (steps 4 to 9) gave up although element x was in the queue for the " +
				"last 5ms"},
		{Name: "soon", Opts: patient, Build: gives(nothing, 3)},
		{Name: "nobody asked", Build: gives(nothing, 9)},
		{Name: "in a world not brought to rest", Opts: patient, Bad: lin.Liveness, Says: "gave up",
			Build: func(f *fixture) {
				gives(nothing, 4)(f)
			}},
		{Name: "put back meanwhile", Opts: patient, Build: gives(again, 3)},
		{Name: "put back earlier", Opts: patient, Bad: lin.Liveness, Says: "for the last 5ms",
			Build: gives(again, 4)},
		{Name: "after a disconnect", Opts: patient,
			Build: gives(func(f *fixture) { f.Told("b", lin.Disconnected) }, 3)},
		{Name: "in a new session", Opts: patient,
			Build: gives(func(f *fixture) { f.Starts("b", 'b') }, 3)},
		{Name: "another took it", Opts: patient, Build: func(f *fixture) {
			f.offer("a", "x")
			op := f.Call("b", ops.Take, "")
			for range 9 {
				f.Next()
			}
			f.take("c", "x")
			f.Ret(op, lin.OpFailed, lin.Result{})
			f.Left = &lin.Leftovers{}
		}},
	})
}
