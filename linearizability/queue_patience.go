package linearizability

import (
	"slices"
	"time"
)

// overslept looks for a take that failed, or went on waiting, although an element
// lay there, and nothing that is known of kept its client from it, for as long as
// patience asks.
func (c *queueCase) overslept() (Verdict, bool) {
	if c.opts.Patience <= 0 {
		return Verdict{}, false
	}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Kind != KindTake || op.pending() {
			continue
		}
		if e, lay := c.overlooked(op); op.Outcome == OpFailed && lay >= c.opts.Patience {
			return violated(Liveness, []int64{op.Call, op.Return},
				"take of %s (steps %d to %d) gave up although element %s was in the queue for the last %v",
				op.Client, op.Call, op.Return, e.value, lay), true
		}
		if e, lay := c.tookLate(op); lay >= c.opts.Patience {
			return violated(Liveness, []int64{op.Call, op.Return},
				"take of %s (steps %d to %d) waited although element %s, which it took in the end, had been in the queue for %v",
				op.Client, op.Call, op.Return, e.value, lay), true
		}
	}
	return Verdict{}, false
}

// tookLate returns the element that a take has removed, and for how long that had
// lain there while the take waited. A client that was told of a loss meanwhile is
// excused: the go-zookeeper client can lose the event of a watch with its connection,
// so that the take had to look again on its own.
func (c *queueCase) tookLate(op *Op) (*element, time.Duration) {
	if !op.ok() || c.undisturbed(op) > op.CallTime {
		return nil, 0
	}
	for _, e := range c.elements {
		if len(e.lives) == 0 || !slices.Contains(e.takes, op) {
			continue
		}
		l := e.lives[len(e.lives)-1]
		if since, ok := c.freeAt(e, l, l.died-1, l.diedTime); ok && l.died <= op.Return {
			return e, l.diedTime - max(op.CallTime, since)
		}
	}
	return nil, 0
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

// undisturbed is that of the history, for a call of this queue.
func (c *queueCase) undisturbed(op *Op) time.Duration {
	return c.history.undisturbed(*op, c.log)
}

// undisturbed returns the time since which the client of a call that has returned
// was in one session and connected, for all that it was told, or the time of the
// call, if that was later.
func (h History) undisturbed(op Op, log serverLog) time.Duration {
	if h.cutOff(op.Client, op.ReturnTime) {
		return op.ReturnTime
	}
	from := op.CallTime
	for _, n := range h.Notices {
		if n.Client == op.Client && n.Step <= op.Return {
			from = max(from, n.Time)
		}
	}
	for _, e := range h.Server {
		session := e.Kind == SessionStarted || e.Kind == SessionEnded
		if session && log.clients[e.subject()] == op.Client && e.Step <= op.Return {
			from = max(from, e.Time)
		}
	}
	return from
}
