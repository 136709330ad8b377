package judging

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
)

// Returns looks for calls that are pending at rest and may not be. A nil mayWait allows none.
func Returns(h lin.History, left *lin.Leftovers, mayWait func(lin.Op) bool) []lin.Verdict {
	stuck := slices.DeleteFunc(slices.Clone(h.Ops), func(op lin.Op) bool {
		return !op.Pending() || mayWait != nil && mayWait(op)
	})
	switch {
	case left == nil:
		return Unsettled(stuck)
	case len(stuck) > 0 && !IsLessSpecific(stuck[0], left):
		return []lin.Verdict{NeverReturned(h, FirstLost(ReadLog(h.Server), stuck), left)}
	case len(left.Wedged) > 0:
		return []lin.Verdict{Wedged(left)}
	}
	return []lin.Verdict{Fine(lin.Liveness, "every call returned that had to")}
}

// FirstLost is the first call whose last ephemeral went without its client's doing, if there is
// one: the others may wait for that call. Otherwise it is the first of all.
func FirstLost(log Log, stuck []lin.Op) lin.Op {
	return stuck[max(0, slices.IndexFunc(stuck, func(op lin.Op) bool {
		lost, itself := LostPlace(log, op)
		return lost != "" && !itself
	}))]
}

// IsLessSpecific reports whether the verdict on a pending call says less than one on a stuck
// client: the call waits for no znode, and may be an attempt of that client.
func IsLessSpecific(op lin.Op, left *lin.Leftovers) bool {
	w, _ := WaitOf(left, op.Client)
	return w.Path == "" && len(left.Wedged) > 0
}

func Wedged(left *lin.Leftovers) lin.Verdict {
	return Violated(lin.Liveness, nil, "wedged: %s", left.Wedged[0])
}

// Unsettled judges liveness as far as that is possible without leftovers: not at all, or
// [lin.Unknown] if a call is stuck.
func Unsettled(stuck []lin.Op) []lin.Verdict {
	if len(stuck) == 0 {
		return nil
	}
	op := stuck[0]
	return []lin.Verdict{Unknown(lin.Liveness, []int64{op.Call},
		"%s never returned, and it is not known whether it was given the time to", Describe(op))}
}
