package linearizability

import (
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"
)

// drawer returns the function behind [Report.Draw].
func drawer[S comparable, O any](o sequential[S, O], events []event[O]) func(io.Writer) error {
	return func(w io.Writer) error {
		m := toModel(o, new(int))
		_, info := porcupine.CheckOperationsVerbose(m, toOperations(events), 0)
		if err := porcupine.Visualize(m, info, w); err != nil {
			return fmt.Errorf("draw history: %w", err)
		}
		return nil
	}
}

// picture draws the operations of some kinds without a sequential model to explain them: any order
// will do. The state shown between them is a number; leaves returns it after an operation.
func picture(
	h History, kinds []string, leaves func(op Op, before int) int, show func(int) string,
) func(io.Writer) error {
	var events []event[Op]
	for i := range h.Ops {
		if op := &h.Ops[i]; slices.Contains(kinds, op.Kind) {
			events = append(events, Effect[Op]{Op: *op, By: op}.event(h.End))
		}
	}
	anything := func(before int, op Op) []int { return []int{leaves(op, before)} }
	return drawer(sequential[int, Op]{step: anything, show: show}, events)
}
