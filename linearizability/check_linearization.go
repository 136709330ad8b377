package linearizability

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// orderer returns the function behind [Report.Linearization].
func orderer[S comparable, O any](
	o sequential[S, O], events []event[O],
) func() (Linearization, bool) {
	return func() (Linearization, bool) {
		list := slices.Clone(events)
		for i := range list {
			list[i].index = i
		}
		taken, decided := longestOrder(o, narrowToServer(list))
		if decided && len(taken) < len(list) {
			taken, decided = longestOrder(o, list)
		}
		if !decided {
			return Linearization{}, false
		}
		return orderOf(o, events, taken), true
	}
}

// longestOrder returns the indices of the events in the longest order that porcupine finds.
func longestOrder[S comparable, O any](o sequential[S, O], list []event[O]) ([]int, bool) {
	steps := 0
	operations := toOperations(inGoodOrder(list))
	_, info := porcupine.CheckOperationsVerbose(toModel(o, &steps), operations, 0)
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
		taken[i] = operations[n].Input.(event[O]).index
	}
	return taken, true
}

// orderOf describes an order, with the states of the model along it.
func orderOf[S comparable, O any](
	o sequential[S, O], events []event[O], taken []int,
) Linearization {
	var order Linearization
	states := []S{o.start}
	for _, i := range taken {
		states = o.after(states, events[i].op)
		at := events[i].ordered()
		if len(states) > 0 { // of several, the first will do
			at.State = o.show(states[0])
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

func (e event[O]) ordered() Ordered {
	return Ordered{Client: e.lane, Text: e.text, From: e.call, To: e.ret}
}
