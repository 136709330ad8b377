package linearizability

import "slices"

// judgeAcks looks for elements that left although nobody was done with them, that
// stayed although somebody was, or that came again. Otherwise the verdict is the
// given one.
func (c *lockQueueCase) judgeAcks(otherwise Verdict) Verdict {
	for _, e := range c.elements {
		acks := c.acksOf(e)
		ok := slices.DeleteFunc(slices.Clone(acks), func(op *Op) bool { return !op.ok() })
		if len(ok) > 1 {
			return violated(Delivery, []int64{ok[0].Return, ok[1].Return}, "element %s was acknowledged twice: %s and %s", e.value, describe(*ok[0]), describe(*ok[1]))
		}
		if len(ok) > 0 {
			if v, bad := c.afterAck(e, ok[0]); bad {
				return v
			}
		}
		for _, l := range e.lives {
			if l.died != never && !slices.ContainsFunc(acks, func(op *Op) bool { return c.mayHaveRemoved(op, l) }) {
				return violated(Delivery, []int64{l.died}, "element %s was removed by %s at step %d, but was not acknowledged by that client",
					e.value, ownerOr(l.remover, "the server"), l.died)
			}
		}
	}
	return otherwise
}

func (c *lockQueueCase) acksOf(e *element) []*Op {
	var acks []*Op
	for i := range c.history.Ops {
		if op := &c.history.Ops[i]; op.Kind == KindAck && op.Input == e.value {
			acks = append(acks, op)
		}
	}
	return acks
}

// mayHaveRemoved reports whether an ack can be behind the removal of an element.
func (c *lockQueueCase) mayHaveRemoved(ack *Op, l *life) bool {
	return ack.Outcome != OpFailed && ack.Call <= l.died && (ack.Client == l.remover || l.remover == "" && l.removerSession != 0) &&
		(!ack.ok() || l.died <= ack.Return)
}

// afterAck looks for an element that was acknowledged and is there, or was
// delivered in a call that began after that.
func (c *lockQueueCase) afterAck(e *element, ack *Op) (Verdict, bool) {
	for _, l := range e.lives {
		if l.died > ack.Return {
			return violated(Delivery, []int64{ack.Return}, "element %s is in the queue after %s", e.value, describe(*ack)), true
		}
	}
	for _, d := range c.deliveries {
		if d.e == e && d.take.Call > ack.Return {
			return violated(Delivery, []int64{ack.Return, d.take.Return}, "element %s was acknowledged by %s, and delivered once more by %s",
				e.value, describe(*ack), describe(*d.take)), true
		}
	}
	return Verdict{}, false
}
