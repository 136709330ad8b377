package linearizability

import (
	"slices"
	"strings"
)

// stateSeen returns the first step in [from, the return] after which the
// server's queue was as the call found it: empty, or with that element first.
func (c *queueCase) stateSeen(op *Op, from int64) (int64, bool) {
	steps := []int64{from}
	for _, e := range c.elements {
		for _, l := range e.lives {
			steps = append(steps, l.born, l.died)
		}
	}
	slices.Sort(steps)
	for _, step := range slices.Compact(steps) {
		if step < from || step > op.Return {
			continue
		}
		if first, some := c.firstAt(step, op); op.Empty && !some || !op.Empty && some && first == op.Output {
			return step, true
		}
	}
	return 0, false
}

// firstAt returns the first element after a step, of those that an empty answer
// must not overlook.
func (c *queueCase) firstAt(step int64, op *Op) (value string, some bool) {
	var first *life
	var of *element
	for _, e := range c.elements {
		if op.Empty && !c.ranks.ready(e, op.CallTime) {
			continue
		}
		for _, l := range e.lives {
			if l.aliveAt(step) && (first == nil || c.ranks.compare(e, of) < 0 || c.ranks.compare(e, of) == 0 && l.czxid < first.czxid) {
				first, of = l, e
			}
		}
	}
	if first == nil {
		return "", false
	}
	return of.value, true
}

// staleReads looks for an empty answer or a peek that fits no state since the
// client's own last change: a client never sees a state older than that.
func (c *queueCase) staleReads() (Verdict, bool) {
	if !c.log.known {
		return Verdict{}, false
	}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if !op.ok() || op.Kind != KindPeek && !(op.Kind == KindPoll && op.Empty) {
			continue
		}
		if !op.Empty && c.anyPutBack() {
			continue // where an element stands that was put back is not known
		}
		from := c.lastChange(op)
		if _, ok := c.stateSeen(op, from); !ok {
			return violated(Linearizability, []int64{op.Call, op.Return},
				"%s found %s, which was true at no time since the client's own last change at step %d",
				describe(*op), found(op), from), true
		}
	}
	return Verdict{}, false
}

// lastChange returns the step of the last change the client was told of before
// the call, or 0.
func (c *queueCase) lastChange(read *Op) int64 {
	var last int64
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Client != read.Client || !op.ok() || op.Return > read.Call {
			continue
		}
		if r, ok := c.removedBy(op); ok {
			last = max(last, r.life.died)
		}
		if op.Kind == KindOffer && len(c.byValue[op.Input].lives) > 0 {
			last = max(last, c.byValue[op.Input].lives[0].born)
		}
	}
	return last
}

func found(op *Op) string {
	if op.Empty {
		return "the queue empty"
	}
	return "element " + strings.TrimSpace(op.Output)
}
