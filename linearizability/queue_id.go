package linearizability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/linearizability/ops"
)

// Identified returns the Input of an offer to a queue with ids: "x#id".
func Identified(element, id string) string { return element + "#" + id }

// IDQueue claims to be a FIFO [Queue] of elements with ids that can be removed by id. The Input of
// an offer is made by [Identified], and there is one more call, [ops.Discard]:
//
//   - Linearizability and order are judged for the elements that were not discarded. None of them
//     may overtake a discarded element that is still in the queue.
//   - Delivery: a discard removes every element of its id that was in the queue from its call to
//     its return, returns their number, and removes no other. No element is both discarded and
//     delivered.
//
// Without the server's log discards may have removed any elements of their ids.
type IDQueue Queue

func (claims IDQueue) judge(h History, left *Leftovers) Report {
	ids := map[string]string{} // by element
	h = h.sorted()
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == ops.Offer {
			var id string
			op.Input, id, _ = strings.Cut(op.Input, "#")
			ids[op.Input] = id
		}
	}
	t := newQueueTable(h, Queue(claims))
	t.findDiscards(ids)
	r := judgeQueue(t, left, queueObject, queueEvents(t), "FIFO queue")
	if v, bad := badDiscard(t); bad {
		Replace(&r, v)
	}
	if stuck := PendingOps(h, ops.Discard); left != nil && len(stuck) > 0 {
		Replace(&r, violated(Liveness, []int64{stuck[0].Call},
			"%s never returned, although the faults stopped", describe(stuck[0])))
	}
	return r
}

// findDiscards finds the discard behind the last removal of each element that no take returned.
func (t *queueTable) findDiscards(ids map[string]string) {
	for _, e := range t.elements {
		e.id = ids[e.value]
		e.discard = discardOf(t.history.Ops, e)
		e.discarded = e.discard != nil
		if !t.log.known {
			e.discarded = slices.ContainsFunc(t.history.Ops, func(op Op) bool {
				return op.Kind == ops.Discard && op.Input == e.id && op.Outcome != OpFailed
			})
		}
	}
	t.removals = slices.DeleteFunc(t.removals, func(r removal) bool {
		return r.element.discard != nil && r.znode == r.element.last()
	})
}

func discardOf(calls []Op, e *element) (by *Op) {
	if len(e.znodes) == 0 || len(e.takes) > 0 && e.takes[0].Call <= e.last().deleted {
		return nil
	}
	last := e.last()
	for i := range calls {
		op := &calls[i]
		if op.Kind == ops.Discard && op.Input == e.id && op.Client == last.remover &&
			last.deleted != never && op.Call <= last.deleted &&
			(!op.ok() || last.deleted <= op.Return) {
			by = op
		}
	}
	return by
}

// badDiscard compares each discard with its removals.
func badDiscard(t queueTable) (v Verdict, bad bool) {
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Kind != ops.Discard || !t.log.known {
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
		if op.ok() && op.Output != fmt.Sprint(removed) {
			return violated(Delivery, []int64{op.Call, op.Return},
				"%s says that it removed %s elements of the id %q, but it was %d",
				describe(*op), op.Output, op.Input, removed), true
		}
	}
	return Verdict{}, false
}

func badDiscardOf(e *element, op *Op) (v Verdict, bad bool) {
	if e.discard == op && (op.Outcome == OpFailed || len(e.takes) > 0) {
		reason := ", which says that it was not"
		if len(e.takes) > 0 {
			reason = ", and delivered by " + describe(*e.takes[0])
		}
		return violated(Delivery, []int64{op.Call, e.last().deleted},
			"element %s was removed by %s%s", e.name, describe(*op), reason), true
	}
	if op.ok() && e.id == op.Input && slices.ContainsFunc(e.znodes, func(z *znode) bool {
		return z.created < op.Call && z.deleted > op.Return
	}) {
		return violated(Delivery, []int64{op.Call, op.Return},
			"element %s of the id %q stayed in the queue during %s", e.name, op.Input,
			describe(*op)), true
	}
	return Verdict{}, false
}
