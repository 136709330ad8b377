package linearizability

import (
	"fmt"
	"slices"
)

// judgeReturns looks for calls that are pending at rest and may not be. A nil mayWait allows none.
func judgeReturns(h History, left *Leftovers, mayWait func(Op) bool) []Verdict {
	stuck := slices.DeleteFunc(slices.Clone(h.Ops), func(op Op) bool {
		return !op.pending() || mayWait != nil && mayWait(op)
	})
	switch {
	case left == nil:
		return unsettled(stuck)
	case len(stuck) > 0 && !isLessSpecific(stuck[0], left):
		return []Verdict{neverReturned(stuck[0], left)}
	case len(left.Wedged) > 0:
		return []Verdict{wedgedVerdict(left)}
	}
	return []Verdict{fine(Liveness, "every call returned that had to")}
}

// isLessSpecific reports whether the verdict on a pending call says less than one on a stuck
// client: the call waits for no znode, and may be an attempt of that client.
func isLessSpecific(op Op, left *Leftovers) bool {
	w, _ := WaitOf(left, op.Client)
	return w.Path == "" && len(left.Wedged) > 0
}

func wedgedVerdict(left *Leftovers) Verdict {
	return violated(Liveness, nil, "wedged: %s", left.Wedged[0])
}

// neverReturned is the verdict on a call that is pending at rest.
func neverReturned(op Op, left *Leftovers) Verdict {
	return violated(Liveness, []int64{op.Call}, "%s never returned, although the faults stopped%s",
		describe(op), waitsFor(op, left))
}

// waitsFor describes the reason of a pending call, if it is known.
func waitsFor(op Op, left *Leftovers) string {
	w, known := WaitOf(left, op.Client)
	switch {
	case known && w.Polls > 0:
		return fmt.Sprintf("; it polls %s, %d times so far", w.Path, w.Polls)
	case known && w.Path != "":
		return "; it waits for a watch on " + w.Path
	case known && w.Why != "":
		return "; it waits for " + w.Why
	}
	return ""
}

// unsettled judges liveness as far as that is possible without leftovers: not at all, or [Unknown]
// if a call is stuck.
func unsettled(stuck []Op) []Verdict {
	if len(stuck) == 0 {
		return nil
	}
	op := stuck[0]
	return []Verdict{unknown(Liveness, []int64{op.Call},
		"%s never returned, and it is not known whether it was given the time to", describe(op))}
}
