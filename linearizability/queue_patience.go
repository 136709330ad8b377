package linearizability

import "time"

// gaveUp looks for a take that failed although an element lay there, and nothing
// that is known of kept its client from it, for as long as patience asks.
func (c *queueCase) gaveUp() (Verdict, bool) {
	if c.opts.Patience <= 0 {
		return Verdict{}, false
	}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Kind != KindTake || op.Outcome != OpFailed || op.pending() {
			continue
		}
		if e, lay := c.overlooked(op); lay >= c.opts.Patience {
			return violated(Liveness, []int64{op.Call, op.Return},
				"take of %s (steps %d to %d) gave up although element %s was in the queue for the last %v",
				op.Client, op.Call, op.Return, e.value, lay), true
		}
	}
	return Verdict{}, false
}

// overlooked returns the element that lay in the queue, in one life, for the
// longest time before the take returned, and for how long. The lives tell the
// whole truth of an element that is put back again and again: none of them is
// long.
func (c *queueCase) overlooked(op *Op) (*element, time.Duration) {
	var longest *element
	var lay time.Duration
	from := c.undisturbed(op)
	for _, e := range c.elements {
		for _, l := range e.lives {
			since, ok := c.freeAt(e, l, op.Return, op.ReturnTime)
			if d := op.ReturnTime - max(from, since); ok && d > lay {
				longest, lay = e, d
			}
		}
	}
	return longest, lay
}

// undisturbed returns the time since which the client was in one session and was
// told of no loss, or the time of the call, if that was later.
func (c *queueCase) undisturbed(op *Op) time.Duration {
	from := op.CallTime
	for _, n := range c.history.Notices {
		if n.Client == op.Client && n.Step <= op.Return {
			from = max(from, n.Time)
		}
	}
	for _, e := range c.history.Server {
		session := e.Kind == SessionStarted || e.Kind == SessionEnded
		if session && c.log.clients[e.subject()] == op.Client && e.Step <= op.Return {
			from = max(from, e.Time)
		}
	}
	return from
}
