package linearizability

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/anishathalye/porcupine"
)

// maxSteps limits the steps of a model in one search by porcupine. It counts steps and not time, so
// that a verdict is a function of the history. The package comment says which histories exceed it.
const maxSteps = 20_000

// event is one operation on a sequential model, with its outcome settled.
type event[O any] struct {
	op        O
	call, ret int64 // closed interval in which it took effect, as far as its client knows
	step      int64 // at which the server applied it; 0 if that is not known
	key       int64 // the moment at which it is likely to have taken effect: see at
	lane      string
	text      string // for the verdict and the order
	index     int    // among the events, for [orderer]
}

// at returns the key of a step; phase, from 0 to 3, orders the events of one step.
func at(step, phase int64) int64 { return step*4 + phase }

// sequential is a sequential model. S must tell different states apart by ==.
type sequential[S comparable, O any] struct {
	start S
	step  func(S, O) []S
	show  func(S) string
	most  int // steps of one search, 0 for maxSteps
}

// bound is the limit of the steps of one search.
func (o sequential[S, O]) bound() int { return cmp.Or(o.most, maxSteps) }

// inOrder runs the model once along the keys. If that works, the history is linearizable, since
// every key lies within the interval of its operation. If it does not, some other order may.
func inOrder[S comparable, O any](o sequential[S, O], events []event[O]) bool {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b event[O]) int { return cmp.Compare(a.key, b.key) })
	states := []S{o.start}
	for _, e := range list {
		if e.key < at(e.call, 0) || e.key > at(e.ret, 3) {
			return false
		}
		states = o.after(states, e.op)
	}
	return len(states) > 0
}

// after returns the states that the model may be in after an operation in one of some states.
func (o sequential[S, O]) after(states []S, op O) []S {
	var next []S
	for _, s := range states {
		for _, t := range o.step(s, op) {
			if !slices.Contains(next, t) {
				next = append(next, t)
			}
		}
	}
	return next
}

// decide says whether the history is linearizable. Porcupine searches for an order that agrees with
// the steps at which the server applied operations. Every such order explains the calls, too. If
// there is none, porcupine searches again, and now knows the calls alone. A history that is too
// long for that is Ok if the likely order explains it, and otherwise Unknown.
//
// decide panics if porcupine finds that there is no order, and the likely order is one.
func decide[S comparable, O any](o sequential[S, O], events []event[O]) porcupine.CheckResult {
	result := search(o, narrowToServer(events))
	if result == porcupine.Illegal && slices.ContainsFunc(events, event[O].isWider) {
		result = search(o, events)
	}
	if result == porcupine.Ok || !inOrder(o, events) {
		return result
	}
	if result == porcupine.Illegal {
		panic("linearizability: porcupine finds no order of the operations, " +
			"but the likely order is one")
	}
	return porcupine.Ok
}

// search asks porcupine whether the history is linearizable. The answer is Unknown beyond its
// bound.
func search[S comparable, O any](o sequential[S, O], events []event[O]) porcupine.CheckResult {
	steps := 0
	ok := porcupine.CheckOperations(toModel(o, &steps), toOperations(inGoodOrder(events)))
	switch {
	case ok:
		return porcupine.Ok
	case steps > o.bound():
		return porcupine.Unknown
	}
	return porcupine.Illegal
}

// narrowToServer narrows the intervals of operations to the steps at which the server applied them.
func narrowToServer[O any](events []event[O]) []event[O] {
	list := slices.Clone(events)
	for i := range list {
		if e := &list[i]; e.isWider() {
			e.call, e.ret = e.step, e.step
		}
	}
	return list
}

// isWider reports whether the interval of the operation can be narrowed to the step at which the
// server applied it.
func (e event[O]) isWider() bool { return e.step != 0 && e.call < e.ret }

// inGoodOrder gives the events new times, all different: calls that follow each other without a
// return in between are put into their likely order, because porcupine tries the earliest call
// first. The order of calls and returns stays the same, and so does the answer.
func inGoodOrder[O any](events []event[O]) []event[O] {
	type moment struct {
		e      *event[O]
		at     int64
		isCall bool
	}
	list := slices.Clone(events)
	var moments []moment
	for i := range list {
		e := &list[i]
		moments = append(moments, moment{e, e.call, true}, moment{e, e.ret, false})
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
			return cmp.Compare(a.e.key, b.e.key)
		})
		from = max(to, from+1)
	}
	for n, m := range moments {
		if m.isCall {
			m.e.call = int64(n)
		} else {
			m.e.ret = int64(n)
		}
	}
	return list
}

// judgeLinearizability is decide as a verdict.
func judgeLinearizability[S comparable, O any](
	o sequential[S, O], events []event[O], noun string,
) Verdict {
	return linearizabilityVerdict(decide(o, events), o, events, noun)
}

// linearizabilityVerdict turns the answer of porcupine into a verdict.
func linearizabilityVerdict[S comparable, O any](
	result porcupine.CheckResult, o sequential[S, O], events []event[O], noun string,
) Verdict {
	switch result {
	case porcupine.Ok:
		return fine(Linearizability, "the history is that of a %s", noun)
	case porcupine.Illegal:
		v := violated(Linearizability, nil,
			"no order of the operations explains what the clients saw of the %s", noun)
		if last := firstImpossible(o, events); last != nil {
			v.Steps = []int64{last.call, last.ret}
			v.Summary += fmt.Sprintf(": it goes wrong with %s: %s (steps %d to %d)",
				last.lane, last.text, last.call, last.ret)
		}
		return v
	default:
		return unknown(Linearizability, nil, "porcupine did not decide %s in %s of the model",
			count(len(events), "operation"), count(o.bound(), "step"))
	}
}

// firstImpossible returns the operation at which the history stops being linearizable: the
// operations that returned before it are linearizable without it. It is nil if no operation is
// found.
func firstImpossible[S comparable, O any](o sequential[S, O], events []event[O]) *event[O] {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b event[O]) int { return cmp.Compare(a.ret, b.ret) })
	low, high := 0, len(list) // the first low are fine, the first high are not
	for high-low > 1 {
		mid := (low + high) / 2
		switch decide(o, prefix(list, mid)) {
		case porcupine.Ok:
			low = mid
		case porcupine.Illegal:
			high = mid
		default:
			return nil
		}
	}
	if high == 0 {
		return nil
	}
	return &list[high-1]
}

// prefix keeps the first n operations, and those others that were called before the last of these
// returned: they may have taken effect already.
func prefix[O any](byReturn []event[O], n int) []event[O] {
	list := slices.Clone(byReturn[:n])
	for _, e := range byReturn[n:] {
		if n > 0 && e.call <= byReturn[n-1].ret {
			list = append(list, e)
		}
	}
	return list
}

// toModel wraps the model for porcupine; a state there is a set of model states. It counts the
// steps. Beyond its bound it allows no operation any more, so that the search ends.
func toModel[S comparable, O any](o sequential[S, O], steps *int) porcupine.Model {
	seed := maphash.MakeSeed()
	nm := porcupine.NondeterministicModel{
		Init: func() []any { return []any{o.start} },
		Step: func(state, input, _ any) []any {
			if *steps++; *steps > o.bound() {
				return nil
			}
			var next []any
			for _, s := range o.step(state.(S), input.(event[O]).op) {
				next = append(next, s)
			}
			return next
		},
		Hash:              func(state any) uint64 { return maphash.Comparable(seed, state.(S)) },
		DescribeOperation: func(input, _ any) string { return input.(event[O]).text },
		DescribeState:     func(state any) string { return o.show(state.(S)) },
	}
	return nm.ToModel()
}

// toOperations gives each client a lane, in the order of their names. An operation that begins
// before the last one of its lane has ended gets another lane: the client did not wait for it.
func toOperations[O any](events []event[O]) []porcupine.Operation {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b event[O]) int {
		if a.lane != b.lane {
			return cmp.Compare(a.lane, b.lane)
		}
		return cmp.Compare(a.call, b.call)
	})
	ops := make([]porcupine.Operation, 0, len(list))
	lane, busyUntil := -1, int64(0)
	for i, e := range list {
		if i == 0 || e.lane != list[i-1].lane || e.call < busyUntil {
			lane++
		}
		busyUntil = e.ret
		ops = append(ops, porcupine.Operation{
			ClientId: lane, Input: e, Call: e.call, Return: e.ret,
		})
	}
	return ops
}
