package queue

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeLockedOrder compares each delivery with the elements that were free from the call to the
// lock, and each empty answer with the free elements.
func judgeLockedOrder(t lockedTable) lin.Verdict {
	for _, d := range t.deliveries {
		if d.lock == nil {
			continue
		}
		if older := passedOverLocked(t, d); older != nil {
			return judging.Violated(lin.Order, []int64{d.take.Call, d.lock.Created},
				"%s got element %s, although the older %s was there and not locked all the time",
				judging.Describe(*d.take), d.element.value, older.value)
		}
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if !isTake(op) || !op.OK() || !op.Empty || emptyDuring(t, op) {
			continue
		}
		return judging.Violated(lin.Order, []int64{op.Call, op.Return},
			"%s found nothing, although at every moment of it some element was there and "+
				"not locked",
			judging.Describe(*op))
	}
	return judging.Fine(lin.Order, "the oldest first of what nobody held")
}

// passedOverLocked returns an element that is older than a delivered one, and was free all the
// time.
func passedOverLocked(t lockedTable, d delivery) *element {
	item := itemOf(t, d)
	for _, e := range t.elements {
		for _, z := range e.znodes {
			if z.Czxid < item.Czxid && availableFrom(t, z, d.take.Call, d.lock.Created) {
				return e
			}
		}
	}
	return nil
}

// itemOf returns the stored element that a delivery has locked.
func itemOf(t lockedTable, d delivery) *judging.Znode {
	for _, z := range d.element.znodes {
		if slices.Contains(t.locks[z], d.lock) {
			return z
		}
	}
	return nil
}

// availableFrom reports whether an element was in the queue, and not locked, from one step to
// another.
func availableFrom(t lockedTable, z *judging.Znode, from, to int64) bool {
	if z.Created >= from || z.Deleted <= to {
		return false
	}
	return !slices.ContainsFunc(t.locks[z], func(lock *judging.Znode) bool {
		return lock.Created <= to && lock.Deleted >= from
	})
}

// emptyDuring reports whether at some moment of the call every element in the queue was locked, or
// there was none.
func emptyDuring(t lockedTable, op *lin.Op) bool {
	steps := []int64{op.Call}
	for _, e := range t.elements {
		for _, z := range e.znodes {
			steps = append(steps, z.Deleted)
			for _, lock := range t.locks[z] {
				steps = append(steps, lock.Created)
			}
		}
	}
	return slices.ContainsFunc(steps, func(step int64) bool {
		return step >= op.Call && step <= op.Return && !anyAvailable(t, step)
	})
}

// anyAvailable reports whether some element was in the queue, and not locked, at a step.
func anyAvailable(t lockedTable, step int64) bool {
	for _, e := range t.elements {
		for _, z := range e.znodes {
			if _, free := t.notLocked(z, step); free && z.ExistsAt(step) {
				return true
			}
		}
	}
	return false
}
