package lock

import (
	"strconv"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeSafety looks for too many owners at once, for owners without a znode, and for owners
// that lost their znode by another client's delete.
func judgeSafety(t table) lin.Verdict {
	certain := crowd{kind: t.kind, until: (*hold).ownedUntil}
	for _, h := range t.holds {
		if h.whyNotOwner != "" {
			return judging.Violated(lin.Safety, []int64{h.lock.Call, h.lock.Return},
				"client %s returned from %s at step %d without a znode of its own: %s",
				h.lock.Client, h.lock.Kind, h.lock.Return, h.whyNotOwner)
		}
		if h.ending == stolen {
			return stolenVerdict(h, t.kind, t.history)
		}
		if others := certain.with(h); others != nil {
			return t.kind.tooManyOwn(others, h)
		}
	}
	perhaps := crowd{kind: t.kind, until: (*hold).ownedAtMostUntil}
	for _, h := range t.holds {
		if others := perhaps.with(h); others != nil {
			return t.kind.perhapsTooMany(lin.Safety, others, h)
		}
	}
	return judging.Fine(lin.Safety, "%d grants, never %s owners at once", len(t.holds),
		oneMore(t.kind.capacity))
}

// oneMore is the number n+1 in words.
func oneMore(n int) string {
	if n == 1 {
		return "two"
	}
	return strconv.Itoa(n + 1)
}
