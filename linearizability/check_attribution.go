package linearizability

// Attribute finds the operation behind each of the server's changes. of has, for
// each operation of the history, the indices of its changes, more than one if it
// was applied more than once; strays are the changes that no operation accounts
// for. Both histories and changes must be in step order, as [Object.Effects] gets
// them.
//
// A change belongs to an operation of its client (or of any client, if that is
// not known) that fits and was under way, of several to the one that ends first, as
// the others may have a later one; a second one rather to an earlier
// operation of that client whose outcome is unknown, and that has none yet: a
// request may reach the server after its caller gave it up.
func Attribute(h History, changes []ServerEvent, fits func(op Op, change int) bool) (of [][]int, strays []int) {
	of = make([][]int, len(h.Ops))
	for i, change := range changes {
		busy, late, bestBusy, bestLate := -1, -1, -1, -1
		for n, op := range h.Ops {
			if op.Call > change.Step || change.Client != "" && op.Client != change.Client || !fits(op, i) {
				continue
			}
			first := len(of[n]) == 0
			switch {
			case op.end() >= change.Step && first:
				if bestBusy < 0 || op.end() <= h.Ops[bestBusy].end() {
					bestBusy = n
				}
			case op.end() >= change.Step:
				busy = n
			case op.Outcome == OpUnknown && first:
				bestLate = n
			case op.Outcome == OpUnknown:
				late = n
			}
		}
		n := firstOf(bestBusy, bestLate, busy, late)
		if n < 0 {
			strays = append(strays, i)
			continue
		}
		of[n] = append(of[n], i)
	}
	return of, strays
}

func firstOf(indices ...int) int {
	for _, n := range indices {
		if n >= 0 {
			return n
		}
	}
	return -1
}

// ownChange is, of the changes that an operation made, the one of which it
// returned the result, or the first; -1 if there are none.
func ownChange(changes []int, returned func(change int) bool) int {
	for _, i := range changes {
		if returned(i) {
			return i
		}
	}
	return firstOf(changes...)
}

// seenAt returns a step of the call at which the object looked like what it
// returned; 0 if there is none. looks is asked for the state after so many of the
// changes.
func seenAt(op Op, changes []ServerEvent, looks func(after int) bool) int64 {
	for n := 0; n <= len(changes); n++ {
		from, to := op.Call, op.end()
		if n > 0 {
			from = max(from, changes[n-1].Step)
		}
		if n < len(changes) {
			to = min(to, changes[n].Step-1)
		}
		if from <= to && looks(n) {
			return from
		}
	}
	return 0
}
