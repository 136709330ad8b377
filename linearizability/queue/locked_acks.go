package queue

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// badAck looks for elements that left without an ack, stayed in spite of one, or were delivered
// again after it.
func badAck(t lockedTable) (v lin.Verdict, bad bool) {
	for _, e := range t.elements {
		acks := acksOf(t.history.Ops, e)
		ok := slices.DeleteFunc(slices.Clone(acks), func(op *lin.Op) bool { return !op.OK() })
		if len(ok) > 0 {
			if v, bad := presentAfterAck(t, e, ok[0]); bad {
				return v, true
			}
		}
		if len(ok) > 1 {
			return judging.Violated(lin.Delivery, []int64{ok[0].Return, ok[1].Return},
				"element %s was acknowledged twice: %s and %s",
				e.value, judging.Describe(*ok[0]), judging.Describe(*ok[1])), true
		}
		for _, z := range e.znodes {
			mayBe := func(op *lin.Op) bool { return mayHaveRemoved(op, z) }
			if z.Deleted != judging.Never && !slices.ContainsFunc(acks, mayBe) {
				return judging.Violated(lin.Delivery, []int64{z.Deleted},
					"element %s was removed by %s at step %d%s, but was not acknowledged by that "+
						"client",
					e.value, cmp.Or(z.Remover, "the server"), z.Deleted, judging.During(t.history,
						lin.ServerEvent{Client: z.Remover, Step: z.Deleted})), true
			}
		}
	}
	return lin.Verdict{}, false
}

func acksOf(calls []lin.Op, e *element) []*lin.Op {
	var acks []*lin.Op
	for i := range calls {
		if op := &calls[i]; op.Kind == ops.Ack && op.Input == e.value {
			acks = append(acks, op)
		}
	}
	return acks
}

// mayHaveRemoved reports whether an ack can be behind the removal of an element.
func mayHaveRemoved(ack *lin.Op, z *judging.Znode) bool {
	ownClient := ack.Client == z.Remover || z.Remover == "" && z.RemoverSession != 0
	return ownClient && ack.Outcome != lin.OpFailed && ack.Call <= z.Deleted &&
		(!ack.OK() || z.Deleted <= ack.Return)
}

// presentAfterAck looks for an acknowledged element that is still in the queue, or was delivered by
// a call that began after the ack.
func presentAfterAck(t lockedTable, e *element, ack *lin.Op) (v lin.Verdict, bad bool) {
	for _, z := range e.znodes {
		if z.Deleted > ack.Return {
			return judging.Violated(lin.Delivery, []int64{ack.Return},
				"element %s is in the queue after %s", e.value, judging.Describe(*ack)), true
		}
	}
	for _, d := range t.deliveries {
		if d.element == e && d.take.Call > ack.Return {
			return judging.Violated(lin.Delivery, []int64{ack.Return, d.take.Return},
				"element %s was acknowledged by %s, and delivered once more by %s",
				e.value, judging.Describe(*ack), judging.Describe(*d.take)), true
		}
	}
	return lin.Verdict{}, false
}
