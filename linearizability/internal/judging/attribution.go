package judging

import lin "github.com/zksim/zksim/linearizability"

// Attribution is the server's changes, each with the operation behind it.
type Attribution struct {
	Changes []lin.ServerEvent
	Of      [][]int // by operation: indices of changes
	Strays  []int   // changes without an operation
}

// Attribute finds the operation behind each of the server's changes: see custom.Attribute.
func Attribute(
	h lin.History, changes []lin.ServerEvent, fits func(op lin.Op, change int) bool,
) Attribution {
	of := make([][]int, len(h.Ops))
	var strays []int
	for i, change := range changes {
		// The last candidate of each kind: under way or given up before, with a change or without.
		first, firstGivenUp, again, againGivenUp := -1, -1, -1, -1
		for n, op := range h.Ops {
			if op.Call > change.Step || change.Client != "" && op.Client != change.Client ||
				!fits(op, i) {
				continue
			}
			none := len(of[n]) == 0
			switch {
			case End(op) >= change.Step && none:
				if first < 0 || End(op) <= End(h.Ops[first]) {
					first = n
				}
			case End(op) >= change.Step:
				again = n
			case op.Outcome == lin.OpUnknown && none:
				firstGivenUp = n
			case op.Outcome == lin.OpUnknown:
				againGivenUp = n
			}
		}
		n := firstOf(first, firstGivenUp, again, againGivenUp)
		if n < 0 {
			strays = append(strays, i)
			continue
		}
		of[n] = append(of[n], i)
	}
	return Attribution{changes, of, strays}
}

// madeBy returns the changes that the n-th operation made.
func (a Attribution) MadeBy(n int) []lin.ServerEvent {
	var list []lin.ServerEvent
	for _, i := range a.Of[n] {
		list = append(list, a.Changes[i])
	}
	return list
}

// seenAt returns a step of the call at which the object was as the call reported it, or 0. looks(n)
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
		return Violated(lin.Delivery, []int64{op.Call, changes[0].Step},
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
