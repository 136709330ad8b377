package linearizability

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
)

// badAck looks for elements that left without an ack, stayed in spite of one, or were delivered
// again after it.
func badAck(t lockedTable) (v Verdict, bad bool) {
	for _, e := range t.elements {
		acks := acksOf(t.history.Ops, e)
		ok := slices.DeleteFunc(slices.Clone(acks), func(op *Op) bool { return !op.ok() })
		if len(ok) > 1 {
			return violated(Delivery, []int64{ok[0].Return, ok[1].Return},
				"element %s was acknowledged twice: %s and %s",
				e.value, describe(*ok[0]), describe(*ok[1])), true
		}
		if len(ok) > 0 {
			if v, bad := presentAfterAck(t, e, ok[0]); bad {
				return v, true
			}
		}
		for _, z := range e.znodes {
			mayBe := func(op *Op) bool { return mayHaveRemoved(op, z) }
			if z.deleted != never && !slices.ContainsFunc(acks, mayBe) {
				return violated(Delivery, []int64{z.deleted},
					"element %s was removed by %s at step %d, but was not acknowledged by that "+
						"client",
					e.value, cmp.Or(z.remover, "the server"), z.deleted), true
			}
		}
	}
	return Verdict{}, false
}

func acksOf(calls []Op, e *element) []*Op {
	var acks []*Op
	for i := range calls {
		if op := &calls[i]; op.Kind == ops.Ack && op.Input == e.value {
			acks = append(acks, op)
		}
	}
	return acks
}

// mayHaveRemoved reports whether an ack can be behind the removal of an element.
func mayHaveRemoved(ack *Op, z *znode) bool {
	ownClient := ack.Client == z.remover || z.remover == "" && z.removerSession != 0
	return ownClient && ack.Outcome != OpFailed && ack.Call <= z.deleted &&
		(!ack.ok() || z.deleted <= ack.Return)
}

// presentAfterAck looks for an acknowledged element that is still in the queue, or was delivered by
// a call that began after the ack.
func presentAfterAck(t lockedTable, e *element, ack *Op) (v Verdict, bad bool) {
	for _, z := range e.znodes {
		if z.deleted > ack.Return {
			return violated(Delivery, []int64{ack.Return},
				"element %s is in the queue after %s", e.value, describe(*ack)), true
		}
	}
	for _, d := range t.deliveries {
		if d.element == e && d.take.Call > ack.Return {
			return violated(Delivery, []int64{ack.Return, d.take.Return},
				"element %s was acknowledged by %s, and delivered once more by %s",
				e.value, describe(*ack), describe(*d.take)), true
		}
	}
	return Verdict{}, false
}
