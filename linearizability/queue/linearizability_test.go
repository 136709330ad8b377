package queue

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestPorcupineDecidesQueues: no bad pattern fits a peek of the second element. porcupine alone
// refuses it.
func TestPorcupineDecidesQueues(t *testing.T) {
	for _, tt := range []struct {
		name, steps string
		answer      porcupine.CheckResult
		says        string
	}{
		{"pattern", "b takes y; b takes x", porcupine.Illegal, "element x was in the queue before y"},
		{"no pattern", "b peek() -> y", porcupine.Illegal,
			"b's peek() -> y (steps 7 to 8), but the FIFO queue was [x y] from step 5 on"},
		{"good takes", "b takes x; b takes y", porcupine.Ok, ""},
		{"good peek", "b peek() -> x", porcupine.Ok, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, claims := played("a offers x; a offers y; "+tt.steps), Claims{Path: "/q"}
			events := eventsOf(newTable(h, claims))
			check.Equal(t, judging.Search(fifoModel, events), tt.answer, "porcupine answers")
			judgingtest.CheckLinearizability(t, judgingtest.Judge(h, nil, claims), tt.says)
		})
	}
}

// TestLinearizationLeavesOutWhatHasNoPlace: a take of an element that was never offered has no
// place.
func TestLinearizationLeavesOutWhatHasNoPlace(t *testing.T) {
	h := played("a offers x; b takes y")
	order, ok := judgingtest.Judge(h, nil, Claims{Path: "/q"}).Linearization()
	if !ok || len(order.Taken) == 0 || len(order.Left) == 0 || order.Left[0].Client != "b" {
		t.Errorf("got %+v, %v", order, ok)
	}
}
