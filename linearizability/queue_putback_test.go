package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// takeBack removes an element and puts it back under its old name.
func (f *fixture) takeBack(client, value string) {
	op := f.call(client, ops.Take, "")
	f.deletes(client, 0, "/q/"+value, 0)
	f.creates(client, 0, "/q/"+value, value, 0)
	f.ret(op, OpFailed, Result{})
}

func TestElementsPutBack(t *testing.T) {
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "then delivered", build: func(f *fixture) {
			f.offer("a", "x")
			f.takeBack("b", "x")
			f.take("c", "x")
			f.left = &Leftovers{}
		}},
		{name: "overtaken meanwhile", build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			op := f.call("b", ops.Take, "")
			f.deletes("b", 0, "/q/x", 0)
			f.take("c", "y")
			f.creates("b", 0, "/q/x", "x", 0)
			f.ret(op, OpFailed, Result{})
			f.ret(f.call("c", ops.Peek, ""), OpOK, Result{Output: "x"})
			f.take("c", "x")
		}},
		{name: "overtaken before", bad: Order, says: "x after that by b's take",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.take("c", "y")
				f.takeBack("b", "x")
				f.take("b", "x")
			}},
		{name: "overtakes an older one", bad: Order, says: "element x was in the queue before y",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.offer("a", "y")
				f.takeBack("b", "y")
				f.take("b", "y")
				f.take("b", "x")
			}},
		{name: "by somebody else", bad: Delivery, says: "element x was stored twice",
			build: func(f *fixture) {
				f.offer("a", "x")
				op := f.call("b", ops.Take, "")
				f.deletes("b", 0, "/q/x", 0)
				f.creates("a", 0, "/q/x", "x", 0) // a's offer, once more
				f.ret(op, OpFailed, Result{})
			}},
		{name: "while it is still there", bad: Delivery, says: "element x was stored twice",
			build: func(f *fixture) {
				f.offer("a", "x")
				op := f.call("b", ops.Take, "")
				f.creates("b", 0, "/q/x2", "x", 0)
				f.deletes("b", 0, "/q/x", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "although it was delivered", bad: Delivery,
			says: "element x was stored again: b's take (steps 4 to 6) got it, and b created " +
				"/q/x at step 7 after that", build: func(f *fixture) {
				f.offer("a", "x")
				f.take("b", "x")
				f.creates("b", 0, "/q/x", "x", 0)
			}},
		{name: "lost in the end", bad: Delivery, says: "element x, offered by a, is lost",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.takeBack("b", "x")
				op := f.call("c", ops.Take, "")
				f.deletes("c", 0, "/q/x", 0)
				f.ret(op, OpUnknown, Result{})
			}},
		{name: "stale peek beside it", opts: Queue{StaleReads: true}, build: func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.takeBack("b", "x")
			f.ret(f.call("b", ops.Peek, ""), OpOK, Result{Output: "x"})
		}},
		{name: "empty beside its first stay", bad: Linearizability, says: "found the queue empty",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.ret(f.call("b", ops.Poll, ""), OpOK, Result{Empty: true})
				f.takeBack("b", "x")
			}},
	})
}

func TestTakesThatGiveUp(t *testing.T) {
	patient := Queue{Patience: 5 * time.Millisecond} // five steps
	gives := func(during func(f *fixture), wait int) func(f *fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			op := f.call("b", ops.Take, "")
			during(f)
			for range wait {
				f.next()
			}
			f.ret(op, OpFailed, Result{})
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
		}
	}
	nothing := func(*fixture) {}
	again := func(f *fixture) {
		f.deletes("b", 0, "/q/x", 0)
		f.creates("b", 0, "/q/x", "x", 0)
	}
	checkHistories(t, queueAt(plainQueue), []queueTest{
		{name: "beside an element", opts: patient, bad: Liveness, build: gives(nothing, 4),
			says: "take of b (steps 4 to 9) gave up although element x was in the queue for the " +
				"last 5ms"},
		{name: "soon", opts: patient, build: gives(nothing, 3)},
		{name: "nobody asked", build: gives(nothing, 9)},
		{name: "in a world not brought to rest", opts: patient, bad: Liveness, says: "gave up",
			build: func(f *fixture) {
				gives(nothing, 4)(f)
			}},
		{name: "put back meanwhile", opts: patient, build: gives(again, 3)},
		{name: "put back earlier", opts: patient, bad: Liveness, says: "for the last 5ms",
			build: gives(again, 4)},
		{name: "after a disconnect", opts: patient,
			build: gives(func(f *fixture) { f.told("b", Disconnected) }, 3)},
		{name: "in a new session", opts: patient,
			build: gives(func(f *fixture) { f.starts("b", 'b') }, 3)},
		{name: "another took it", opts: patient, build: func(f *fixture) {
			f.offer("a", "x")
			op := f.call("b", ops.Take, "")
			for range 9 {
				f.next()
			}
			f.take("c", "x")
			f.ret(op, OpFailed, Result{})
			f.left = &Leftovers{}
		}},
	})
}
