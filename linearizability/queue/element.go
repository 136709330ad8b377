package queue

import (
	"cmp"
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// element is one element of the queue, stored or offered in vain.
type element struct {
	value          string
	name           string           // in verdicts: the value, and which of those of this value
	equals         []*element       // those of this value, itself included
	rank           int64            // see ranking
	offer          *lin.Op          // nil if it was never offered
	znodes         []*judging.Znode // in the order of their creates
	takes          []*lin.Op        // the calls that returned it with success
	uncertainTakes []*lin.Op        // the calls that returned it with an unknown outcome

	ambiguous bool // its znode is that of another offer, or of one of its equals that was put back

	id        string  // by which it can be discarded
	discard   *lin.Op // the call that removed it by its id, if that is known
	discarded bool    // it was removed by its id, or may have been if that is not known
}

func (e *element) last() *judging.Znode { return e.znodes[len(e.znodes)-1] }

// storedTwice returns two znodes of an element if the second is a second copy. A client that
// removed an element and abandons the take may put it back: that is no copy, since the element was
// stored at most once at every moment, and no call had returned it.
func (e *element) storedTwice() (a, b *judging.Znode, twice bool) {
	for i := 1; i < len(e.znodes); i++ {
		a, b := e.znodes[i-1], e.znodes[i]
		if b.Created < a.Deleted || !putBack(a, b) || e.deliveredBefore(b.Created) {
			return a, b, true
		}
	}
	return nil, nil, false
}

// putBack reports whether the client that removed the first znode made the second.
func putBack(a, b *judging.Znode) bool {
	if a.WithSession {
		return false
	}
	return a.Remover != "" && a.Remover == b.Creator ||
		a.RemoverSession != 0 && a.RemoverSession == b.CreatorSession
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

func (e *element) textOfCopies(a, b *judging.Znode) string {
	if b.Created >= a.Deleted && putBack(a, b) {
		return fmt.Sprintf("element %s was stored again: %s got it, "+
			"and %s created %s at step %d after that", e.name, judging.Describe(*e.takes[0]),
			cmp.Or(b.Creator, judging.Session(b.CreatorSession)), b.Path, b.Created)
	}
	if by := cmp.Or(b.Creator, e.offer.Client); by != e.offer.Client ||
		b.Created > judging.End(*e.offer) {
		return fmt.Sprintf("element %s was stored twice: %s created %s at step %d, and %s created "+
			"%s at step %d", e.name, judging.Describe(*e.offer), a.Path, a.Created, by, b.Path,
			b.Created)
	}
	return fmt.Sprintf("%s stored element %s twice: it created %s at step %d and %s at step %d",
		judging.Describe(*e.offer), e.name, a.Path, a.Created, b.Path, b.Created)
}

// textOfTakes says that two calls returned the element, or why they could, if it was stored twice.
func (e *element) textOfTakes(returned string) string {
	a, b := judging.Describe(*e.takes[0]), judging.Describe(*e.takes[1])
	if first, second, twice := e.storedTwice(); twice && e.offer != nil {
		return fmt.Sprintf("%s, and it was taken by %s and by %s", e.textOfCopies(first, second), a, b)
	}
	text := fmt.Sprintf("element %s was %s twice: by %s and by %s", e.name, returned, a, b)
	if z := e.znodes; len(z) == 1 && z[0].Deleted != judging.Never {
		text += fmt.Sprintf(", but it was there once, and %s deleted it, at step %d",
			z[0].RemovedByWhom(), z[0].Deleted)
	}
	return text
}
