package judging

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/anishathalye/porcupine"

	lin "github.com/zksim/zksim/linearizability"
)

// maxSteps limits the steps of a model in one search by porcupine. It counts steps and not time, so
// that a verdict is a function of the history. The package comment says which histories exceed it.
const maxSteps = 20_000

// Event is one operation on a sequential model, with its outcome settled.
type Event[O any] struct {
	Op           O
	Call, Return int64 // closed interval in which it took effect, as far as its client knows
	Step         int64 // Key which the server applied it; 0 if that is not known
	Key          int64 // the moment at which it is likely to have taken effect: see at
	Lane         string
	Text         string // for the verdict and the order
	index        int    // among the events, for [orderer]
}

// Key returns the key of a step; phase, from 0 to 3, orders the events of one step.
func Key(step, phase int64) int64 { return step*4 + phase }

// Model is a sequential model. S must tell different states apart by ==.
type Model[S comparable, O any] struct {
	Start    S
	Step     func(S, O) []S
	Show     func(S) string
	MaxSteps int // steps of one search, 0 for maxSteps
}

// bound is the limit of the steps of one search.
func (o Model[S, O]) bound() int { return cmp.Or(o.MaxSteps, maxSteps) }

// InOrder runs the model once along the keys. If that works, the history is linearizable, since
// every key lies within the interval of its operation. If it does not, some other order may.
func InOrder[S comparable, O any](o Model[S, O], events []Event[O]) bool {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b Event[O]) int { return cmp.Compare(a.Key, b.Key) })
	states := []S{o.Start}
	for _, e := range list {
		if e.Key < Key(e.Call, 0) || e.Key > Key(e.Return, 3) {
			return false
		}
		states = o.after(states, e.Op)
	}
	return len(states) > 0
}

// after returns the states that the model may be in after an operation in one of some states.
func (o Model[S, O]) after(states []S, op O) []S {
	var next []S
	for _, s := range states {
		for _, t := range o.Step(s, op) {
			if !slices.Contains(next, t) {
				next = append(next, t)
			}
		}
	}
	return next
}

// Decide says whether the history is linearizable. Porcupine searches for an order that agrees with
// the steps at which the server applied operations. Every such order explains the calls, too. If
// there is none, porcupine searches again, and now knows the calls alone. A history that is too
// long for that is Ok if the likely order explains it, and otherwise Unknown; searched reports that
// it was not too long.
//
// Decide panics if porcupine finds that there is no order, and the likely order is one.
func Decide[S comparable, O any](
	o Model[S, O], events []Event[O],
) (result porcupine.CheckResult, searched bool) {
	result = Search(o, narrowToServer(events))
	if result == porcupine.Illegal && slices.ContainsFunc(events, Event[O].isWider) {
		result = Search(o, events)
	}
	if result == porcupine.Ok || !InOrder(o, events) {
		return result, result != porcupine.Unknown
	}
	if result == porcupine.Illegal {
		panic("linearizability: porcupine finds no order of the operations, " +
			"but the likely order is one")
	}
	return porcupine.Ok, false
}

// Search asks porcupine whether the history is linearizable. The answer is Unknown beyond its
// bound.
func Search[S comparable, O any](o Model[S, O], events []Event[O]) porcupine.CheckResult {
	steps := 0
	ok := porcupine.CheckOperations(ToModel(o, &steps), ToOperations(inGoodOrder(events)))
	switch {
	case ok:
		return porcupine.Ok
	case steps > o.bound():
		return porcupine.Unknown
	}
	return porcupine.Illegal
}

// narrowToServer narrows the intervals of operations to the steps at which the server applied them.
func narrowToServer[O any](events []Event[O]) []Event[O] {
	list := slices.Clone(events)
	for i := range list {
		if e := &list[i]; e.isWider() {
			e.Call, e.Return = e.Step, e.Step
		}
	}
	return list
}

// isWider reports whether the interval of the operation can be narrowed to the step at which the
// server applied it.
func (e Event[O]) isWider() bool { return e.Step != 0 && e.Call < e.Return }

// inGoodOrder gives the events new times, all different: calls that follow each other without a
// return in between are put into their likely order, because porcupine tries the earliest call
// first. The order of calls and returns stays the same, and so does the answer.
func inGoodOrder[O any](events []Event[O]) []Event[O] {
	type moment struct {
		e      *Event[O]
		at     int64
		isCall bool
	}
	list := slices.Clone(events)
	var moments []moment
	for i := range list {
		e := &list[i]
		moments = append(moments, moment{e, e.Call, true}, moment{e, e.Return, false})
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		switch {
		case a.at != b.at || a.isCall == b.isCall:
			return cmp.Compare(a.at, b.at)
		case a.isCall:
			return -1
		}
		return 1
	})
	for from := 0; from < len(moments); {
		to := from
		for to < len(moments) && moments[to].isCall {
			to++
		}
		slices.SortStableFunc(moments[from:to], func(a, b moment) int {
			return cmp.Compare(a.e.Key, b.e.Key)
		})
		from = max(to, from+1)
	}
	for n, m := range moments {
		if m.isCall {
			m.e.Call = int64(n)
		} else {
			m.e.Return = int64(n)
		}
	}
	return list
}

// Linearizability is decide as a verdict.
func Linearizability[S comparable, O any](
	o Model[S, O], events []Event[O], noun string,
) lin.Verdict {
	result, searched := Decide(o, events)
	return LinearizabilityVerdict(result, searched, o, events, noun)
}

// LinearizabilityVerdict turns the answer of Decide into a verdict.
func LinearizabilityVerdict[S comparable, O any](
	result porcupine.CheckResult, searched bool, o Model[S, O], events []Event[O], noun string,
) lin.Verdict {
	switch {
	case result == porcupine.Ok && searched:
		return Fine(lin.Linearizability, "the history is that of a %s", noun)
	case result == porcupine.Ok:
		return Fine(lin.Linearizability, "the history is that of a %s, in the likely order: "+
			"porcupine did not decide it in %s", noun, Count(o.bound(), "step"))
	case result == porcupine.Illegal:
		return noOrder(o, events, noun)
	default:
		return Unknown(lin.Linearizability, nil, "porcupine did not decide %s in %s of the model",
			Count(len(events), "operation"), Count(o.bound(), "step"))
	}
}

// ToModel wraps the model for porcupine; a state there is a set of model states. It counts the
// steps. Beyond its bound it allows no operation any more, so that the search ends.
func ToModel[S comparable, O any](o Model[S, O], steps *int) porcupine.Model {
	seed := maphash.MakeSeed()
	nm := porcupine.NondeterministicModel{
		Init: func() []any { return []any{o.Start} },
		Step: func(state, input, _ any) []any {
			if *steps++; *steps > o.bound() {
				return nil
			}
			var next []any
			for _, s := range o.Step(state.(S), input.(Event[O]).Op) {
				next = append(next, s)
			}
			return next
		},
		Hash:              func(state any) uint64 { return maphash.Comparable(seed, state.(S)) },
		DescribeOperation: func(input, _ any) string { return input.(Event[O]).Text },
		DescribeState:     func(state any) string { return o.Show(state.(S)) },
	}
	return nm.ToModel()
}

// ToOperations gives each client a lane, in the order of their names. An operation that begins
// before the last one of its lane has ended gets another lane: the client did not wait for it.
func ToOperations[O any](events []Event[O]) []porcupine.Operation {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b Event[O]) int {
		if a.Lane != b.Lane {
			return cmp.Compare(a.Lane, b.Lane)
		}
		return cmp.Compare(a.Call, b.Call)
	})
	ops := make([]porcupine.Operation, 0, len(list))
	lane, busyUntil := -1, int64(0)
	for i, e := range list {
		if i == 0 || e.Lane != list[i-1].Lane || e.Call < busyUntil {
			lane++
		}
		busyUntil = e.Return
		ops = append(ops, porcupine.Operation{
			ClientId: lane, Input: e, Call: e.Call, Return: e.Return,
		})
	}
	return ops
}
