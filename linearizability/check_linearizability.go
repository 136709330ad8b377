package linearizability

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience limits the time of porcupine for one history.
const patience = 2 * time.Second

// event is one operation on a sequential model, with its outcome settled.
type event[O any] struct {
	op        O
	call, ret int64 // closed interval in which it took effect
	key       int64 // the moment at which it is likely to have taken effect: see at
	lane      string
	text      string // for the picture
	note      string
}

// at returns the key of a step; phase, from 0 to 3, orders the events of one step.
func at(step, phase int64) int64 { return step*4 + phase }

// sequential is a sequential model. S must tell different states apart by ==.
type sequential[S comparable, O any] struct {
	start S
	step  func(S, O) []S
	show  func(S) string
}

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
		var next []S
		for _, s := range states {
			for _, t := range o.step(s, e.op) {
				if !slices.Contains(next, t) {
					next = append(next, t)
				}
			}
		}
		states = next
	}
	return len(states) > 0
}

// decide says whether the history is linearizable: at once if the likely order is possible, and
// otherwise by porcupine.
func decide[S comparable, O any](
	o sequential[S, O], events []event[O], patience time.Duration,
) porcupine.CheckResult {
	if inOrder(o, events) {
		return porcupine.Ok
	}
	return porcupine.CheckOperationsTimeout(toModel(o), toOperations(events), patience)
}

// judgeLinearizability is decide as a verdict.
func judgeLinearizability[S comparable, O any](
	o sequential[S, O], events []event[O], noun string, patience time.Duration,
) Verdict {
	switch decide(o, events, patience) {
	case porcupine.Ok:
		return fine(Linearizability, "the history is that of a %s", noun)
	case porcupine.Illegal:
		v := violated(Linearizability, nil,
			"no order of the operations explains what the clients saw of the %s", noun)
		if last := firstImpossible(o, events, patience); last != nil {
			v.Steps = []int64{last.call, last.ret}
			v.Summary += fmt.Sprintf(": it goes wrong with %s: %s (steps %d to %d)",
				last.lane, last.text, last.call, last.ret)
		}
		return v
	default:
		return unknown(Linearizability, nil, "porcupine did not decide %s within %v",
			count(len(events), "operation"), patience)
	}
}

// firstImpossible returns the operation at which the history stops being linearizable: the
// operations that returned before it are linearizable without it. It is nil if porcupine does not
// find it in time.
func firstImpossible[S comparable, O any](
	o sequential[S, O], events []event[O], patience time.Duration,
) *event[O] {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b event[O]) int { return cmp.Compare(a.ret, b.ret) })
	deadline := time.Now().Add(patience)
	low, high := 0, len(list) // the first low are fine, the first high are not
	for high-low > 1 {
		mid := (low + high) / 2
		left := time.Until(deadline)
		if left <= 0 {
			return nil
		}
		ops := toOperations(prefix(list, mid))
		switch porcupine.CheckOperationsTimeout(toModel(o), ops, left) {
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

// toModel wraps the model for porcupine; a state there is a set of model states.
func toModel[S comparable, O any](o sequential[S, O]) porcupine.Model {
	seed := maphash.MakeSeed()
	nm := porcupine.NondeterministicModel{
		Init: func() []any { return []any{o.start} },
		Step: func(state, input, _ any) []any {
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
			ClientId: lane, Input: e, Call: e.call, Return: e.ret, Metadata: e.note,
		})
	}
	return ops
}
