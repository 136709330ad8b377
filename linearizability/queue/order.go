package queue

import (
	"cmp"
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgeOrder compares the takes with the order of the creates at the server, or with the
// ranks.
func judgeOrder(t table) lin.Verdict {
	if t.ranking != byAge {
		return judgeRanks(t)
	}
	if v, bad := wrongOrder(t, lin.Order, spansOf(t, true)); bad {
		return v
	}
	return judging.Fine(lin.Order, "first in, first out")
}

// wrongOrder looks for two elements in the wrong order: the first certainly comes before the
// second, was in the queue before the second was taken, and certainly was not taken before it.
func wrongOrder(t table, property string, list []span) (v lin.Verdict, bad bool) {
	entered := slices.SortedStableFunc(slices.Values(list), func(a, b span) int {
		return cmp.Compare(a.inRet, b.inRet)
	})
	last := make([]int64, len(list)+1) // when the last one of the first n is taken
	for n, a := range entered {
		last[n+1] = max(last[n], a.out)
	}
	for _, b := range list {
		before := max(b.in, b.out)
		if t.ranking == byAge {
			before = b.in
		}
		n, _ := slices.BinarySearchFunc(entered, before, func(a span, before int64) int {
			return cmp.Compare(a.inRet, before)
		})
		if b.e.discarded || last[n] <= b.outRet {
			continue // it need not be the first, or is
		}
		for _, a := range list {
			if comesBefore(a, b) && b.outRet < a.out {
				text := wrongOrderText(t.ranking, a, b)
				return judging.Violated(property, []int64{a.inRet, b.outRet}, "%s", text), true
			}
		}
	}
	return lin.Verdict{}, false
}

func wrongOrderText(by ranking, a, b span) string {
	text := fmt.Sprintf("element %s was in the queue before %s (%s, %s), but %s left first, by %s",
		by.describe(a.e), by.describe(b.e), judging.Describe(*a.e.offer),
		judging.Describe(*b.e.offer),
		b.e.name, b.outText)
	if a.out == judging.Never {
		return text + ", and " + a.e.name + " is still there"
	}
	return text + ", " + a.e.name + " after that by " + a.outText
}

// comesBefore reports whether a must certainly be taken before b.
func comesBefore(a, b span) bool {
	switch {
	case a.e.value == b.e.value:
		return false // nothing tells them apart
	case a.e.rank == b.e.rank:
		return a.inRet < b.in
	case a.e.rank < b.e.rank:
		return a.inRet < b.out
	}
	return false
}

// judgeRanks compares every removal with the content of the queue at that moment: at the server or,
// without a log, as far as the clients know.
func judgeRanks(t table) lin.Verdict {
	if v, bad := takenTooEarly(t); bad {
		return v
	}
	if !t.log.Known {
		if v, bad := wrongOrder(t, lin.Order, spansOf(t, true)); bad {
			return v
		}
	}
	for _, r := range t.removals {
		if first, since := firstOvertaken(t, r); first != nil {
			return judging.Violated(lin.Order, []int64{r.znode.Deleted},
				"element %s was removed at step %d, although %s was in the queue since step %d",
				t.ranking.describe(r.element), r.znode.Deleted, t.ranking.describe(first), since)
		}
	}
	return judging.Fine(lin.Order, "every element left in its turn")
}

// firstOvertaken returns an element that was in the queue at a removal and should have left before,
// and the step since which it was there. An element that was put back has its old place.
func firstOvertaken(t table, r removal) (first *element, since int64) {
	e, step := r.element, r.znode.Deleted
	known := step
	if t.claims.MayOvertake && r.by != nil {
		known = t.listed(e, r.by)
	}
	for _, other := range t.elements {
		if other.value == e.value || other.rank > e.rank ||
			other.rank == e.rank && !isOlder(other, e) {
			continue
		}
		for _, z := range other.znodes {
			if z.Created < known && step < z.Deleted {
				return other, z.Created
			}
		}
	}
	return nil, 0
}

// listed is a step up to which a take that may overtake has certainly seen what was stored: that of
// the element that it took, or the call. A list of a server that lags is older, but has what the
// client itself has changed before.
func (t table) listed(e *element, take *lin.Op) int64 {
	from := take.Call
	if t.claims.StaleReads {
		from = lastChange(t, take)
	}
	return max(from, e.znodes[0].Created)
}

// isOlder reports whether a certainly came into the queue before b.
func isOlder(a, b *element) bool {
	return a.hasPlace() && b.hasPlace() && len(a.znodes) > 0 &&
		a.znodes[0].Created < b.znodes[0].Created
}

// tooEarly says, after a time, that an element was not due.
const tooEarly = " before it was due"

// takenTooEarly looks for an element that was removed or returned before it was due.
func takenTooEarly(t table) (v lin.Verdict, bad bool) {
	for _, r := range t.removals {
		if !t.ranking.ready(r.element, r.znode.DeletedTime) {
			return judging.Violated(lin.Order, []int64{r.znode.Deleted},
				"element %s was removed at step %d, %v%s", t.ranking.describe(r.element),
				r.znode.Deleted, t.ranking.readyFrom(r.element)-r.znode.DeletedTime, tooEarly), true
		}
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		e := t.anyOf(op.Output)
		if op.Kind != ops.Offer && op.OK() && !op.Empty && e != nil &&
			!t.ranking.ready(e, op.ReturnTime) {
			return judging.Violated(lin.Order, []int64{op.Call, op.Return},
				"%s returned element %s %v%s", judging.Describe(*op), t.ranking.describe(e),
				t.ranking.readyFrom(e)-op.ReturnTime, tooEarly), true
		}
	}
	return lin.Verdict{}, false
}
