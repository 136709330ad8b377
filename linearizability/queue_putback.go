package linearizability

import "fmt"

// storedTwice returns two lives of an element, the second of which is a second
// copy. A client that removed an element and gives the take up may put it back:
// that is no copy, for the element was there once at every moment, and nobody
// had got it.
func (e *element) storedTwice() (a, b *life, twice bool) {
	for i := 1; i < len(e.lives); i++ {
		a, b := e.lives[i-1], e.lives[i]
		if b.born < a.died || !putBack(a, b) || e.deliveredBefore(b.born) {
			return a, b, true
		}
	}
	return nil, nil, false
}

// putBack reports whether whoever removed the first made the second.
func putBack(a, b *life) bool {
	if a.withSession {
		return false
	}
	return a.remover != "" && a.remover == b.creator || a.removerSession != 0 && a.removerSession == b.creatorSession
}

func (e *element) deliveredBefore(step int64) bool {
	return len(e.takes) > 0 && e.takes[0].Return < step
}

// isPutBack reports whether the element left the queue and came back, and was
// there at most once at every moment.
func (e *element) isPutBack() bool {
	_, _, twice := e.storedTwice()
	return len(e.lives) > 1 && !twice
}

func (e *element) textOfCopies(a, b *life) string {
	if b.born >= a.died && putBack(a, b) {
		return fmt.Sprintf("element %s was stored again: %s got it, and %s created %s at step %d after that",
			e.value, describe(*e.takes[0]), ownerOr(b.creator, session(b.creatorSession)), b.path, b.born)
	}
	return fmt.Sprintf("element %s was stored twice: %s created %s at step %d and %s at step %d",
		e.value, describe(*e.offer), a.path, a.born, b.path, b.born)
}

// isLeftOut reports whether the call is about an element that was put back, or
// removed by its id. The
// model has no place for such an element: younger ones may overtake it while it
// is out, and nobody knows for sure where it stands after that. What is left of
// a queue's history without all of the operations on one element is that of a
// queue too, so leaving it out accuses nobody wrongly.
func (c *queueCase) isLeftOut(op *Op) bool {
	value := op.Output
	if op.Kind == KindOffer {
		value = op.Input
	} else if r, ok := c.removedBy(op); ok {
		value, _ = c.decode(r.life.path, r.life.data)
	}
	e, known := c.byValue[value]
	return known && (e.isPutBack() || c.mayBeDiscarded(e))
}

// anyPutBack reports whether some element was put back.
func (c *queueCase) anyPutBack() bool {
	for _, e := range c.elements {
		if e.isPutBack() {
			return true
		}
	}
	return false
}
