package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Identified returns the Input of an offer to a queue with ids: "x#id".
func Identified(element, id string) string { return element + "#" + id }

// WithIDs claims to be a FIFO [Claims] of elements with ids that can be removed by id. The Input of
// an offer is made by [Identified], and there is one more call, [ops.Discard]:
//
//   - Linearizability and order are judged for the elements that were not discarded. None of them
//     may overtake a discarded element that is still in the queue.
//   - Delivery: a discard removes every element of its id that was in the queue from its call to
//     its return, returns their number, and removes no other. No element is both discarded and
//     delivered.
//
// Without the server's log discards may have removed any elements of their ids that were not
// delivered.
type WithIDs Claims

// Properties implements [lin.Claims].
func (claims WithIDs) Properties() []string {
	return Claims(claims).Properties()
}

// Judge implements [lin.Claims].
func (claims WithIDs) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return Claims(claims).named(h, func(c Claims) lin.Report { return judgeWithIDs(c, h, left) })
}

func judgeWithIDs(claims Claims, h lin.History, left *lin.Leftovers) lin.Report {
	ids := map[string]string{} // by element
	h = h.Sorted()
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == ops.Offer {
			var id string
			op.Input, id, _ = strings.Cut(op.Input, "#")
			ids[op.Input] = id
		}
	}
	t := newTable(h, claims)
	t.findDiscards(ids)
	r := judge(t, left, fifoModel, eventsOf(t), "FIFO queue")
	if v, bad := badDiscard(t); bad {
		judging.Replace(&r, v)
	}
	if stuck := judging.PendingOps(h, ops.Discard); left != nil && len(stuck) > 0 {
		judging.Replace(&r, judging.Violated(lin.Liveness, []int64{stuck[0].Call},
			"%s never returned, although the faults stopped", judging.Describe(stuck[0])))
	}
	return r
}

// findDiscards finds the discard behind the last removal of each element that no take returned: one
// that succeeded and counted it, or one in doubt that was under way while the znode was there. A
// take in doubt that removed nothing else is likelier than any other discard: than one that has
// counted others, or has certainly failed, or had returned before the znode was there. If the take
// had returned before, too, the discard in doubt is the likelier of the two, as it keeps no order.
func (t *table) findDiscards(ids map[string]string) {
	var removed []*element
	for _, e := range t.elements {
		e.id = ids[e.value]
		switch {
		case !t.log.Known:
			e.discarded = slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
				return op.Kind == ops.Discard && op.Input == e.id && op.Outcome != lin.OpFailed
			})
		case len(e.znodes) > 0 && (len(e.takes) == 0 || e.takes[0].Call > e.last().Deleted):
			removed = append(removed, e)
		}
	}
	slices.SortStableFunc(removed, func(a, b *element) int {
		return cmp.Compare(a.last().Deleted, b.last().Deleted)
	})
	t.countDiscards(removed)
	for _, e := range removed {
		e.discard = cmp.Or(e.discard, discardOf(t.history.Ops, e, func(op *lin.Op) bool {
			return inDoubt(op) && judging.End(*op) >= e.last().Created
		}))
	}
	t.removals = findRemovals(*t)
	for _, e := range removed {
		switch r, _ := t.removalOf(e.last()); {
		case r.by == nil || r.by.Outcome == lin.OpFailed:
			e.discard = cmp.Or(e.discard, discardOf(t.history.Ops, e, nil))
		case judging.End(*r.by) < e.last().Created:
			e.discard = cmp.Or(e.discard, discardOf(t.history.Ops, e, inDoubt))
		}
		e.discarded = e.discard != nil
	}
	t.removals = findRemovals(*t)
}

// inDoubt reports whether the call may have had an effect, and did not say which.
func inDoubt(op *lin.Op) bool { return !op.OK() && op.Outcome != lin.OpFailed }

// countDiscards gives each discard that succeeded as many of the removed elements as it says. Those
// that a take returned with an error come last. The discard that returns first has the fewest
// elements to choose from.
func (t *table) countDiscards(removed []*element) {
	var discards []*lin.Op
	for i := range t.history.Ops {
		if op := &t.history.Ops[i]; op.Kind == ops.Discard && op.OK() {
			discards = append(discards, op)
		}
	}
	slices.SortStableFunc(discards, func(a, b *lin.Op) int {
		return cmp.Compare(a.Return, b.Return)
	})
	for _, op := range discards {
		missing, err := strconv.Atoi(op.Output)
		for _, uncertain := range []bool{false, true} {
			for _, e := range removed {
				if err == nil && missing > 0 && e.discard == nil && op.Input == e.id &&
					couldRemove(*op, e.last()) && len(e.uncertainTakes) > 0 == uncertain {
					e.discard = op
					missing--
				}
			}
		}
	}
}

// discardOf is the last discard, of those that are likely, that may have removed the element's last
// znode; nil if there is none.
func discardOf(calls []lin.Op, e *element, likely func(op *lin.Op) bool) (by *lin.Op) {
	for i := range calls {
		op := &calls[i]
		if op.Kind == ops.Discard && op.Input == e.id && couldRemove(*op, e.last()) &&
			(likely == nil || likely(op)) {
			by = op
		}
	}
	return by
}

// badDiscard compares each discard with its removals.
func badDiscard(t table) (v lin.Verdict, bad bool) {
	if !t.log.Known {
		return tooManyRemoved(t)
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Kind != ops.Discard {
			continue
		}
		removed := 0
		for _, e := range t.elements {
			if e.discard == op {
				removed++
			}
			if v, bad := badDiscardOf(e, op); bad {
				return v, true
			}
		}
		if op.OK() && op.Output != fmt.Sprint(removed) {
			return judging.Violated(lin.Delivery, []int64{op.Call, op.Return},
				"%s says that it removed %s elements of the id %q, but it was %d%s",
				judging.Describe(*op), op.Output, op.Input, removed, t.otherIDs(op)), true
		}
	}
	return lin.Verdict{}, false
}

// tooManyRemoved compares the numbers that discards have returned, and the elements that were
// delivered, with the offers of each id.
func tooManyRemoved(t table) (v lin.Verdict, bad bool) {
	left := map[string]int{} // of the elements of an id
	for _, e := range t.elements {
		if e.offer != nil && len(e.takes) == 0 {
			left[e.id]++
		}
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		n, err := strconv.Atoi(op.Output)
		if op.Kind != ops.Discard || !op.OK() || err != nil {
			continue
		}
		if left[op.Input] -= n; left[op.Input] < 0 {
			return judging.Violated(lin.Delivery, []int64{op.Call, op.Return},
				"%s says that it removed %d elements of the id %q: with the other discards and the "+
					"elements that were delivered these are %d more than were offered",
				judging.Describe(*op), n, op.Input, -left[op.Input]), true
		}
	}
	return lin.Verdict{}, false
}

// otherIDs tells of an element of another id that a discard has removed, or of one of its id that
// another client removed meanwhile.
func (t table) otherIDs(op *lin.Op) string {
	for _, e := range t.elements {
		if e.id != op.Input && len(e.znodes) > 0 && couldRemove(*op, e.last()) {
			return fmt.Sprintf("; it removed element %s of the id %q at step %d", e.name, e.id,
				e.last().Deleted)
		}
	}
	for _, e := range t.elements {
		if e.id == op.Input && len(e.znodes) > 0 && e.last().Remover != op.Client &&
			op.Call <= e.last().Deleted && e.last().Deleted <= judging.End(*op) {
			return fmt.Sprintf("; %s removed element %s of that id at step %d",
				e.last().RemovedByWhom(), e.name, e.last().Deleted)
		}
	}
	return ""
}

func badDiscardOf(e *element, op *lin.Op) (v lin.Verdict, bad bool) {
	if e.discard == op && (op.Outcome == lin.OpFailed || len(e.takes) > 0) {
		reason := ", which says that it was not"
		if len(e.takes) > 0 {
			reason = ", and delivered by " + judging.Describe(*e.takes[0])
		}
		return judging.Violated(lin.Delivery, []int64{op.Call, e.last().Deleted},
			"element %s was removed by %s%s", e.name, judging.Describe(*op), reason), true
	}
	if op.OK() && e.id == op.Input && slices.ContainsFunc(e.znodes, func(z *judging.Znode) bool {
		return z.Created < op.Call && z.Deleted > op.Return
	}) {
		return judging.Violated(lin.Delivery, []int64{op.Call, op.Return},
			"element %s of the id %q stayed in the queue during %s", e.name, op.Input,
			judging.Describe(*op)), true
	}
	return lin.Verdict{}, false
}
