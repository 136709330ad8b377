package linearizability

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// Linearization is an order of the operations of a history, found by porcupine. If the history is
// linearizable, it explains all of them: each took effect between its call and its return, and had
// the result that the model gives. Otherwise it is the longest order that explains some of them,
// and Left has the others.
type Linearization struct {
	Taken, Left []Ordered
}

// Ordered is an operation in a Linearization, or the effect of the server on the object.
type Ordered struct {
	Client string // "server" for the server
	Text   string // the call with its result
	// From and To are the steps between which it took effect. To is after the last step if it may
	// have done so at any time.
	From, To int64
	State    string // of the object after it; "" in Left
}

// Linearization is an order of the operations by the sequential model of the object. It runs the
// check once more. ok is false if the kind of object has no sequential model, or if porcupine does
// not decide the history.
func (r Report) Linearization() (l Linearization, ok bool) {
	if r.order == nil {
		return Linearization{}, false
	}
	return r.order()
}

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
