package queue

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestPorcupineDecidesQueues: no bad pattern fits a peek of the second element. porcupine alone
// refuses it.
func TestPorcupineDecidesQueues(t *testing.T) {
	peek := func(seen string) func(*fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.Ret(f.Call("b", ops.Peek, ""), lin.OpOK, lin.Result{Output: seen})
		}
	}
	takes := func(first, second string) func(*fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.take("b", first)
			f.take("b", second)
		}
	}
	for _, tt := range []struct {
		name   string
		build  func(*fixture)
		answer porcupine.CheckResult
		says   string
	}{
		{"pattern", takes("y", "x"), porcupine.Illegal, "element x was in the queue before y"},
		{"no pattern", peek("y"), porcupine.Illegal,
			"no order of the operations explains what the clients saw of the FIFO queue: " +
				"it goes wrong with b: peek() -> y (steps 7 to 8)"},
		{"good takes", takes("x", "y"), porcupine.Ok, ""},
		{"good peek", peek("x"), porcupine.Ok, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			tt.build(f)
			events := eventsOf(newTable(f.History(), Claims{Path: "/q"}))
			check.Equal(t, judging.Search(fifoModel, events), tt.answer, "porcupine answers")
			judgingtest.CheckLinearizability(t, judgingtest.Judge(f.History(), nil, Claims{Path: "/q"}), tt.says)
		})
	}
}

// TestLinearizationLeavesOutWhatHasNoPlace: a take of an element that was never offered has no
// place.
func TestLinearizationLeavesOutWhatHasNoPlace(t *testing.T) {
	q := &fixture{}
	q.offer("a", "x")
	q.take("b", "y")
	order, ok := judgingtest.Judge(q.History(), nil, Claims{Path: "/q"}).Linearization()
	if !ok || len(order.Taken) == 0 || len(order.Left) == 0 || order.Left[0].Client != "b" {
		t.Errorf("got %+v, %v", order, ok)
	}
}
