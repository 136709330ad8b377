package judging

import (
	"slices"

	"github.com/anishathalye/porcupine"

	lin "github.com/zksim/zksim/linearizability"
)

// Linearizer returns the function behind [lin.Report.Linearization].
func Linearizer[S comparable, O any](
	o Model[S, O], events []Event[O],
) func() (lin.Linearization, bool) {
	return func() (lin.Linearization, bool) {
		list := slices.Clone(events)
		for i := range list {
			list[i].index = i
		}
		taken, decided := longestOrder(o, narrowToServer(list))
		if decided && len(taken) < len(list) {
			taken, decided = longestOrder(o, list)
		}
		if !decided {
			return lin.Linearization{}, false
		}
		return orderOf(o, events, taken), true
	}
}

// longestOrder returns the indices of the events in the longest order that porcupine finds.
func longestOrder[S comparable, O any](o Model[S, O], list []Event[O]) ([]int, bool) {
	steps := 0
	operations := ToOperations(inGoodOrder(list))
	_, info := porcupine.CheckOperationsVerbose(ToModel(o, &steps), operations, 0)
	if steps > o.bound() {
		return nil, false
	}
	var longest []int
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	taken := make([]int, len(longest))
	for i, n := range longest {
		taken[i] = operations[n].Input.(Event[O]).index
	}
	return taken, true
}

// orderOf describes an order, with the states of the model along it.
func orderOf[S comparable, O any](o Model[S, O], events []Event[O], taken []int) lin.Linearization {
	var order lin.Linearization
	states := []S{o.Start}
	for _, i := range taken {
		states = o.after(states, events[i].Op)
		at := events[i].ordered()
		if len(states) > 0 { // of several, the first will do
			at.State = o.Show(states[0])
		}
		order.Taken = append(order.Taken, at)
	}
	for i, e := range events {
		if !slices.Contains(taken, i) {
			order.Left = append(order.Left, e.ordered())
		}
	}
	return order
}

func (e Event[O]) ordered() lin.Ordered {
	return lin.Ordered{Client: e.Lane, Text: e.Text, From: e.Call, To: e.Return}
}
