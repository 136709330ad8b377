package linearizability

import (
	"cmp"
	"fmt"
	"time"
)

// ranks say which element of a queue goes first: that of the smallest rank, and
// of several the oldest. Without ranks, in a FIFO queue, all are the same.
type ranks struct {
	of  map[string]int64 // by element
	due bool             // a rank is the time, in nanoseconds, from which on the element is there to be taken
}

func (r ranks) compare(a, b *element) int { return cmp.Compare(r.of[a.value], r.of[b.value]) }

// readyFrom returns the time from which on an element can be taken.
func (r ranks) readyFrom(e *element) time.Duration {
	if !r.due {
		return 0
	}
	return time.Duration(r.of[e.value])
}

// ready reports whether an element could be taken at a time.
func (r ranks) ready(e *element, now time.Duration) bool { return !r.due || r.readyFrom(e) <= now }

func (r ranks) describe(e *element) string {
	switch {
	case r.due:
		return fmt.Sprintf("%s (due at %v)", e.value, r.readyFrom(e))
	case r.of != nil:
		return fmt.Sprintf("%s (priority %d)", e.value, r.of[e.value])
	}
	return e.value
}

// withRanks takes the ranks out of the offers, and gives the history without
// them. What cut does not understand has the rank 0.
func withRanks(h History, cut func(input string) (string, int64)) (History, map[string]int64) {
	of := map[string]int64{}
	h = h.sorted()
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == KindOffer {
			value, rank := cut(op.Input)
			op.Input, of[value] = value, rank
		}
	}
	return h, of
}

// comesBefore reports whether one element is certainly to be taken before
// another, both being known of when that was taken.
func (c *queueCase) comesBefore(a, b span) bool {
	switch order := c.ranks.compare(a.e, b.e); {
	case order == 0:
		return a.inRet < b.in
	case order < 0:
		return a.inRet < b.out
	}
	return false
}

// judgeRanks compares every removal with what was in the queue at that moment,
// at the server or, if there is no log, as far as the clients know.
func (c *queueCase) judgeRanks() Verdict {
	if v, bad := c.tooEarly(); bad {
		return v
	}
	if !c.log.known {
		if a, b, bad := c.wrongOrder(c.spans(true)); bad {
			return violated(Order, []int64{a.inRet, b.outRet}, "%s", c.orderText(a, b))
		}
	}
	for _, r := range c.removals {
		value, _ := c.decode(r.life.path, r.life.data)
		if first := c.passedOver(c.byValue[value], r.life.died); first != nil {
			return violated(Order, []int64{r.life.died}, "element %s was removed at step %d, although %s was in the queue",
				c.ranks.describe(c.byValue[value]), r.life.died, c.ranks.describe(first))
		}
	}
	return fine(Order, "every element left in its turn")
}

// passedOver returns an element that was in the queue at a step and should have
// left before this one. One that was put back has its old place.
func (c *queueCase) passedOver(e *element, step int64) *element {
	for _, other := range c.elements {
		order := c.ranks.compare(other, e)
		if other == e || order > 0 || order == 0 && len(other.lives) > 0 && other.lives[0].born > e.lives[0].born {
			continue
		}
		for _, l := range other.lives {
			if l.born < step && step < l.died {
				return other
			}
		}
	}
	return nil
}

// tooEarly looks for an element that was shown or removed before it was due.
func (c *queueCase) tooEarly() (Verdict, bool) {
	for _, r := range c.removals {
		value, _ := c.decode(r.life.path, r.life.data)
		if e := c.byValue[value]; !c.ranks.ready(e, r.life.diedTime) {
			return violated(Order, []int64{r.life.died}, "element %s was removed at step %d, at %v: too early",
				c.ranks.describe(e), r.life.died, r.life.diedTime), true
		}
	}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		e := c.byValue[op.Output]
		if op.Kind != KindOffer && op.ok() && !op.Empty && e != nil && !c.ranks.ready(e, op.ReturnTime) {
			return violated(Order, []int64{op.Call, op.Return}, "%s returned element %s at %v: too early",
				describe(*op), c.ranks.describe(e), op.ReturnTime), true
		}
	}
	return Verdict{}, false
}
