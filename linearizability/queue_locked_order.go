package linearizability

import "slices"

// judgeTurns compares each delivery with what lay there, not locked, all the time
// from the call to the lock, and each empty answer with what lay there.
func (c *lockQueueCase) judgeTurns() Verdict {
	for _, d := range c.deliveries {
		if d.lock == nil {
			continue
		}
		item := c.itemOf(d)
		for _, e := range c.elements {
			for _, l := range e.lives {
				if l.czxid < item.czxid && c.lay(l, d.take.Call, d.lock.born) {
					return violated(Order, []int64{d.take.Call, d.lock.born}, "%s got element %s, although the older %s was there and not locked all the time",
						describe(*d.take), d.e.value, e.value)
				}
			}
		}
	}
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if !isTake(op) || !op.ok() || !op.Empty || !c.log.known || c.nothingLay(op) {
			continue
		}
		return violated(Order, []int64{op.Call, op.Return}, "%s found nothing, although at every moment of it some element was there and not locked", describe(*op))
	}
	return fine(Order, "the oldest first of what nobody held")
}

// itemOf returns the stored element that a delivery has locked.
func (c *lockQueueCase) itemOf(d *delivery) *life {
	for _, l := range d.e.lives {
		if slices.Contains(c.locks[l], d.lock) {
			return l
		}
	}
	return nil
}

// lay reports whether an element was in the queue, and nobody held it, from one
// step to another.
func (c *lockQueueCase) lay(l *life, from, to int64) bool {
	if l.born >= from || l.died <= to {
		return false
	}
	return !slices.ContainsFunc(c.locks[l], func(lock *life) bool { return lock.born <= to && lock.died >= from })
}

// nothingLay reports whether there was a moment of the call at which no element
// was in the queue that nobody held.
func (c *lockQueueCase) nothingLay(op *Op) bool {
	steps := []int64{op.Call}
	for _, e := range c.elements {
		for _, l := range e.lives {
			steps = append(steps, l.died)
			for _, lock := range c.locks[l] {
				steps = append(steps, lock.born)
			}
		}
	}
	return slices.ContainsFunc(steps, func(step int64) bool {
		if step < op.Call || step > op.Return {
			return false
		}
		for _, e := range c.elements {
			for _, l := range e.lives {
				if _, free := c.notLocked(l, step); free && l.aliveAt(step) {
					return false
				}
			}
		}
		return true
	})
}
