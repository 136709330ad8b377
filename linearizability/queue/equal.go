package queue

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// The server's log tells equal elements apart: the maker of a znode has called an offer, and its
// remover a take. If several elements fit, the choice is one without a violation. No verdict tells
// which of two equal elements left first.

// isRepeated reports whether there are other elements of its value.
func (e *element) isRepeated() bool { return len(e.equals) > 1 }

// isUnclear reports whether the log does not show which calls are about the element.
func (e *element) isUnclear() bool {
	return slices.ContainsFunc(e.equals, func(e *element) bool { return e.ambiguous })
}

// hasPlace reports whether the places of the element in the order of creates and removals are
// known. Those of equal elements are not if one was stored again, or was not removed by the call
// that returned it.
func (e *element) hasPlace() bool {
	return !e.isRepeated() || !slices.ContainsFunc(e.equals, func(e *element) bool {
		return e.ambiguous || len(e.znodes) > 1 ||
			len(e.znodes)*len(e.takes) > 0 && !removes(e.takes[0], e.last())
	})
}

// removes reports whether a call that returned an element removed its znode.
func removes(take *lin.Op, z *judging.Znode) bool {
	return take.Client == z.Remover && take.Call <= z.Deleted && z.Deleted <= take.Return
}

// storedBy returns the element of some equal ones that a new znode stands for. The first of these
// that exists is taken:
//
//  1. the element of the offer that made the znode;
//  2. an element that the maker of the znode had removed, and may put back;
//  3. an element that is stored a second time.
//
// Once an element may have been put back, the log does not tell it from its equals.
func storedBy(equals []*element, z *judging.Znode, p *pairing) *element {
	if len(equals) == 1 {
		return equals[0]
	}
	var offered, late, back, again *element
	for _, e := range equals {
		op, fresh := e.offer, len(e.znodes) == 0
		mayBe := op.Call <= z.Created && (z.Creator == "" || z.Creator == op.Client)
		switch {
		case mayBe && fresh && op.OK() && z.Created <= op.Return:
			if offered == nil || op.Return < offered.offer.Return {
				offered = e
			}
		case mayBe && fresh && inDoubt(op):
			late = cmp.Or(late, e)
		case e.mayBePutBack(z, p):
			back = e
		case mayBe && z.Created <= judging.End(*op):
			again = e
		}
	}
	if offered == nil && back != nil {
		back.ambiguous = true
		if late == nil {
			p.putBack(back.last())
		}
	}
	return cmp.Or(offered, late, back, again, equals[0])
}

// mayBePutBack reports whether z can be the element, put back by the client that had removed it.
func (e *element) mayBePutBack(z *judging.Znode, p *pairing) bool {
	return len(e.znodes) > 0 && e.last().Deleted <= z.Created && putBack(e.last(), z) &&
		p.spares(e.last())
}

// oldestLeavesFirst exchanges the ends of equal elements, as if the oldest had always left first.
// It does not if one of them was stored more than once.
func oldestLeavesFirst(equals []*element) {
	var list []*judging.Znode
	for _, e := range equals {
		if len(e.znodes) > 1 {
			return
		}
		list = append(list, e.znodes...)
	}
	slices.SortFunc(list,
		func(a, b *judging.Znode) int { return cmp.Compare(a.Created, b.Created) })
	ends := slices.Clone(list)
	slices.SortStableFunc(ends,
		func(a, b *judging.Znode) int { return cmp.Compare(a.Deleted, b.Deleted) })
	joined := map[*judging.Znode]*judging.Znode{}
	for i, from := range list {
		z := *ends[i]
		z.Czxid, z.Creator, z.CreatorSession = from.Czxid, from.Creator, from.CreatorSession
		z.Created, z.CreatedTime = from.Created, from.CreatedTime
		joined[from] = &z
	}
	for _, e := range equals {
		if len(e.znodes) > 0 {
			e.znodes[0] = joined[e.znodes[0]]
		}
	}
}

// removedBy returns the element, of equal ones, that a take has removed before it returned: the
// first that no other take has. If it has removed none, it is one that its client had removed
// before, as a queue that removes several at a time does. It is nil if there is none.
func removedBy(equals []*element, take *lin.Op) *element {
	return cmp.Or(
		firstRemoved(equals, func(z *judging.Znode) bool { return removes(take, z) }),
		firstRemoved(equals, func(z *judging.Znode) bool {
			return z.Remover == take.Client && z.Deleted < take.Call
		}))
}

// takenOf returns the element, of equal ones, that a take returned although it removed none during
// the call. Of those that were in the queue before it returned, it is the first that its client
// removed later; or else, if elements may come again, one that a take returned and that was there
// during the call; or else one that no take returned; or else one that was there. If there is none,
// it is one that no take returned and that may be in the queue, or else the first.
func takenOf(equals []*element, take *lin.Op, again bool) *element {
	var stored []*element
	for _, e := range equals {
		if len(e.znodes) > 0 && e.znodes[0].Created <= take.Return {
			stored = append(stored, e)
		}
	}
	removed := firstRemoved(stored, func(z *judging.Znode) bool {
		return z.Deleted != judging.Never && z.Deleted >= take.Call && z.Remover == take.Client
	})
	first := func(fits func(e *element) bool) *element {
		if i := slices.IndexFunc(stored, fits); i >= 0 {
			return stored[i]
		}
		return nil
	}
	isThere := func(e *element) bool { return e.last().Deleted >= take.Call }
	return cmp.Or(removed,
		first(func(e *element) bool { return again && e.isReturned() && isThere(e) }),
		first(func(e *element) bool { return !e.isReturned() }), first(isThere),
		notTaken(equals), equals[0])
}

// firstRemoved returns the element that left first of those that no take returned and whose last
// znode fits, or nil.
func firstRemoved(equals []*element, fits func(z *judging.Znode) bool) (first *element) {
	for _, e := range equals {
		if !e.isReturned() && len(e.znodes) > 0 && fits(e.last()) &&
			(first == nil || e.last().Deleted < first.last().Deleted) {
			first = e
		}
	}
	return first
}

// isReturned reports whether a take has returned the element.
func (e *element) isReturned() bool { return len(e.takes)+len(e.uncertainTakes) > 0 }

// notTaken returns an element that no take returned and that may be in the queue, or nil.
func notTaken(equals []*element) *element {
	for _, acknowledged := range []bool{true, false} {
		for _, e := range equals {
			if !e.isReturned() && e.offer != nil &&
				e.offer.Outcome != lin.OpFailed && e.offer.OK() == acknowledged {
				return e
			}
		}
	}
	return nil
}
