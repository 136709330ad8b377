package judging

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
)

// Attribution is the server's changes, each with the operation behind it.
type Attribution struct {
	Changes []lin.ServerEvent
	Of      [][]int // by operation: indices of changes
	Strays  []int   // changes without an operation

	Stale bool // reads may be answered by a server that lags behind
	reads []staleRead
}

// Attribute finds the operation behind each of the server's changes: see custom.Attribute.
func Attribute(
	h lin.History, changes []lin.ServerEvent, fits func(op lin.Op, change int) bool,
) Attribution {
	a := Attribution{Changes: changes, Of: make([][]int, len(h.Ops))}
	mayBe := func(op lin.Op, i int) bool {
		change := changes[i]
		return op.Call <= change.Step && (change.Client == "" || op.Client == change.Client) &&
			fits(op, i)
	}
	for i := range changes {
		if n := a.likeliest(h.Ops, i, mayBe); n >= 0 {
			a.Of[n] = append(a.Of[n], i)
		} else {
			a.Strays = append(a.Strays, i)
		}
	}
	for n, op := range h.Ops {
		if op.OK() && len(a.Of[n]) == 0 {
			a.claim(h.Ops, n, mayBe, map[int]bool{})
		}
	}
	return a
}

// likeliest returns the likeliest operation behind a change, -1 if there is none. Operations that
// have certainly failed come last.
func (a *Attribution) likeliest(
	calls []lin.Op, i int, mayBe func(op lin.Op, change int) bool,
) int {
	// The last candidate of each kind: under way or given up before, with a change or without.
	first, firstGivenUp, again, againGivenUp, failed := -1, -1, -1, -1, -1
	soonest := func(before, n int) int {
		if before < 0 || End(calls[n]) <= End(calls[before]) {
			return n
		}
		return before
	}
	for n, op := range calls {
		if !mayBe(op, i) {
			continue
		}
		none, underWay := len(a.Of[n]) == 0, End(op) >= a.Changes[i].Step
		switch {
		case op.Outcome == lin.OpFailed:
			if underWay {
				failed = soonest(failed, n)
			}
		case underWay && none:
			first = soonest(first, n)
		case underWay:
			again = n
		case op.Outcome == lin.OpUnknown && none:
			firstGivenUp = n
		case op.Outcome == lin.OpUnknown:
			againGivenUp = n
		}
	}
	return firstOf(first, firstGivenUp, again, failed, againGivenUp)
}

// claim finds a change for an operation that succeeded and has none. A change of an operation that
// did not succeed, or that has another one, is given up for it. So is one of an operation that
// finds another change in the same way. It reports whether there is one.
func (a *Attribution) claim(
	calls []lin.Op, n int, mayBe func(op lin.Op, change int) bool, tried map[int]bool,
) bool {
	for i := range a.Changes {
		if tried[i] || End(calls[n]) < a.Changes[i].Step || !mayBe(calls[n], i) {
			continue
		}
		tried[i] = true
		owner := slices.IndexFunc(a.Of, func(of []int) bool { return slices.Contains(of, i) })
		if owner < 0 {
			continue
		}
		if calls[owner].OK() && len(a.Of[owner]) == 1 && !a.claim(calls, owner, mayBe, tried) {
			continue
		}
		a.Of[owner] = slices.DeleteFunc(a.Of[owner], func(of int) bool { return of == i })
		a.Of[n] = []int{i}
		return true
	}
	return false
}

// MadeBy returns the changes that the n-th operation made.
func (a Attribution) MadeBy(n int) []lin.ServerEvent {
	var list []lin.ServerEvent
	for _, i := range a.Of[n] {
		list = append(list, a.Changes[i])
	}
	return list
}

// SeenAt returns a step of the call at which the object was as the call reported it, or 0. looks(n)
// reports whether the state after n changes was so.
func (a Attribution) SeenAt(op lin.Op, looks func(after int) bool) int64 {
	for n := 0; n <= len(a.Changes); n++ {
		from, to := op.Call, End(op)
		if n > 0 {
			from = max(from, a.Changes[n-1].Step)
		}
		if n < len(a.Changes) {
			to = min(to, a.Changes[n].Step-1)
		}
		if from <= to && looks(n) {
			return from
		}
	}
	return 0
}

// OwnChange returns the change that produced the result of an operation, or else its first change;
// -1 if it has none.
func OwnChange(changes []int, returned func(change int) bool) int {
	for _, i := range changes {
		if returned(i) {
			return i
		}
	}
	return firstOf(changes...)
}

func firstOf(indices ...int) int {
	for _, n := range indices {
		if n >= 0 {
			return n
		}
	}
	return -1
}

// WithRepetitions returns the effect of an operation that made the change own, and the effects of
// its other changes.
func WithRepetitions[E any](e E, own int, changes []int, byServer func(change int) E) []E {
	list := []E{e}
	for _, i := range changes {
		if i != own {
			list = append(list, byServer(i))
		}
	}
	return list
}

// AppliedOnce looks for a wrong number of changes of one write.
func AppliedOnce(op lin.Op, changes []lin.ServerEvent, mayRepeat bool) (v lin.Verdict, bad bool) {
	switch {
	case len(changes) > 0 && op.Outcome == lin.OpFailed:
		return Violated(lin.Delivery, []int64{op.Call, changes[0].Step, op.Return},
			"%s was applied at step %d, although it said that it was not",
			Describe(op), changes[0].Step), true
	case len(changes) == 0 && op.OK():
		return Violated(lin.Delivery, []int64{op.Call, op.Return},
			"%s was acknowledged, but the server never applied it", Describe(op)), true
	case len(changes) > 1 && !mayRepeat:
		return Violated(lin.Delivery, []int64{changes[0].Step, changes[1].Step},
			"%s was applied twice: at steps %d and %d",
			Describe(op), changes[0].Step, changes[1].Step), true
	}
	return lin.Verdict{}, false
}
