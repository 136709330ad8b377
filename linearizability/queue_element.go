package linearizability

import (
	"cmp"
	"fmt"
	"slices"
)

// element is one element of the queue, stored or offered in vain.
type element struct {
	value          string
	name           string     // in verdicts: the value, and which of those of this value
	equals         []*element // those of this value, itself included
	rank           int64      // see ranking
	offer          *Op        // nil if it was never offered
	znodes         []*znode   // in the order of their creates
	takes          []*Op      // the calls that returned it with success
	uncertainTakes []*Op      // the calls that returned it with an unknown outcome

	ambiguous bool // its znode is that of another offer, or of one of its equals that was put back

	id        string // by which it can be discarded
	discard   *Op    // the call that removed it by its id, if that is known
	discarded bool   // it was removed by its id, or may have been if that is not known
}

func (e *element) last() *znode { return e.znodes[len(e.znodes)-1] }

// storedTwice returns two znodes of an element if the second is a second copy. A client that
// removed an element and abandons the take may put it back: that is no copy, since the element was
// stored at most once at every moment, and no call had returned it.
func (e *element) storedTwice() (a, b *znode, twice bool) {
	for i := 1; i < len(e.znodes); i++ {
		a, b := e.znodes[i-1], e.znodes[i]
		if b.created < a.deleted || !putBack(a, b) || e.deliveredBefore(b.created) {
			return a, b, true
		}
	}
	return nil, nil, false
}

// putBack reports whether the client that removed the first znode made the second.
func putBack(a, b *znode) bool {
	if a.withSession {
		return false
	}
	return a.remover != "" && a.remover == b.creator ||
		a.removerSession != 0 && a.removerSession == b.creatorSession
}

func (e *element) deliveredBefore(step int64) bool {
	return len(e.takes) > 0 && e.takes[0].Return < step
}

// isPutBack reports whether the element left the queue and came back, stored at most once at every
// moment.
func (e *element) isPutBack() bool {
	_, _, twice := e.storedTwice()
	return len(e.znodes) > 1 && !twice
}

// leavesModel reports whether the calls about the element are left out of linearizability, as it
// was put back, or removed by its id. The model has no place for such an element: younger ones may
// overtake it while it is out, and its place after that is not known. A valid history stays valid
// without the operations on the elements of one value.
func (e *element) leavesModel() bool {
	return slices.ContainsFunc(e.equals, func(e *element) bool {
		return e.isPutBack() || e.discarded || e.ambiguous
	})
}

func (e *element) textOfCopies(a, b *znode) string {
	if b.created >= a.deleted && putBack(a, b) {
		return fmt.Sprintf("element %s was stored again: %s got it, "+
			"and %s created %s at step %d after that", e.name, describe(*e.takes[0]),
			cmp.Or(b.creator, session(b.creatorSession)), b.path, b.created)
	}
	return fmt.Sprintf("element %s was stored twice: %s created %s at step %d and %s at step %d",
		e.name, describe(*e.offer), a.path, a.created, b.path, b.created)
}
