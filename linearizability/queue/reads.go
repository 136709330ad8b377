package queue

import (
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// stateSeen returns the first step in [from, the return] after which the server's queue was as the
// call found it: empty, or with that element first.
func stateSeen(t table, op *lin.Op, from int64) (int64, bool) {
	steps := []int64{from}
	for _, e := range t.elements {
		for _, z := range e.znodes {
			steps = append(steps, z.Created, z.Deleted)
		}
	}
	slices.Sort(steps)
	for _, step := range slices.Compact(steps) {
		if step < from || step > op.Return {
			continue
		}
		first := firstAt(t, step, op)
		if op.Empty && first == nil || !op.Empty && first != nil && first.value == op.Output {
			return step, true
		}
	}
	return 0, false
}

// firstAt returns the first element of the server's queue, as it was right after a step, or nil. If
// the operation is an empty answer, elements that it may overlook are left out.
func firstAt(t table, step int64, op *lin.Op) *element {
	var oldest *judging.Znode
	var first *element
	for _, e := range t.elements {
		if op.Empty && !t.ranking.ready(e, op.CallTime) {
			continue
		}
		for _, z := range e.znodes {
			if z.ExistsAt(step) && (first == nil || e.rank < first.rank ||
				e.rank == first.rank && z.Czxid < oldest.Czxid) {
				oldest, first = z, e
			}
		}
	}
	return first
}

// tooStale looks for an empty answer or a peek that fits no state since the client's own last
// change: a client never sees a state older than that.
func tooStale(t table) (v lin.Verdict, bad bool) {
	if !t.log.Known {
		return lin.Verdict{}, false
	}
	anyPutBack := slices.ContainsFunc(t.elements, (*element).isPutBack)
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if !op.OK() || op.Kind != ops.Peek && !(op.Kind == ops.Poll && op.Empty) {
			continue
		}
		if !op.Empty && anyPutBack {
			continue // the place of an element that was put back is not known
		}
		from := lastChange(t, op)
		if _, ok := stateSeen(t, op, from); !ok {
			return judging.Violated(lin.Linearizability, []int64{op.Call, op.Return},
				"%s found %s, which was true at no time since the client's own last change at "+
					"step %d",
				judging.Describe(*op), found(op), from), true
		}
	}
	return lin.Verdict{}, false
}

// lastChange returns the step of the client's last change that returned before the call, or 0 if
// there is none or if the client had two sessions at once.
func lastChange(t table, read *lin.Op) int64 {
	var last int64
	if !judging.HasOneSession(t.history, read.Client) {
		return 0
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Client != read.Client || !op.OK() || op.Return > read.Call {
			continue
		}
		if r, ok := t.removalBy(op); ok {
			last = max(last, r.znode.Deleted)
		}
		if op.Kind == ops.Offer && len(t.offered[op].znodes) > 0 {
			last = max(last, t.offered[op].znodes[0].Created)
		}
	}
	return last
}

func found(op *lin.Op) string {
	if op.Empty {
		return "the queue empty"
	}
	return "element " + strings.TrimSpace(op.Output)
}
