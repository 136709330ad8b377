package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// table is one history of a queue, with values derived from it once. Each property is a
// function of the table.
type table struct {
	history  lin.History
	log      judging.Log
	claims   Claims
	ranking  ranking
	elements []*element // in the order of their first appearance
	byValue  map[string][]*element
	offered  map[*lin.Op]*element // by its offer
	taken    map[*lin.Op]*element // by a take that returned it
	removals []removal            // in the order of the steps
	// free reports whether a stored element could be taken at a step, and since which time; nil
	// means always.
	free func(z *judging.Znode, step int64) (since time.Duration, ok bool)
}

func newTable(h lin.History, claims Claims) table {
	h = h.Sorted()
	t := table{
		history: h, log: judging.ReadLog(h.Server), claims: claims,
		byValue: map[string][]*element{},
		offered: map[*lin.Op]*element{}, taken: map[*lin.Op]*element{},
	}
	t.gatherOffers()
	t.gatherZnodes()
	t.gatherTakes()
	t.removals = findRemovals(t)
	return t
}

func (t *table) gatherOffers() {
	for i := range t.history.Ops {
		if op := &t.history.Ops[i]; op.Kind == ops.Offer {
			e := t.newElement(op.Input)
			e.offer, t.offered[op] = op, e
		}
	}
	for _, e := range t.elements {
		e.equals = t.byValue[e.value]
		if n := len(e.equals); n > 1 {
			e.name = fmt.Sprintf("%s (%d of %d)", e.name, slices.Index(e.equals, e)+1, n)
		}
	}
}

// gatherZnodes adds the znodes of offered elements: the directory may hold other znodes.
func (t *table) gatherZnodes() {
	pairings := t.pairings()
	for _, z := range t.log.Znodes {
		value, ok := t.claims.elementIn(z.Path, z.Data)
		if equals := t.byValue[value]; ok && len(equals) > 0 {
			e := storedBy(equals, z, pairings[value])
			e.znodes = append(e.znodes, z)
		}
	}
	for _, e := range t.elements {
		if len(e.equals) > 1 && e == e.equals[0] {
			oldestLeavesFirst(e.equals)
		}
	}
}

// pairings returns a pairing for each value of several elements.
func (t *table) pairings() map[string]*pairing {
	stored := map[string][]*judging.Znode{}
	for _, z := range t.log.Znodes {
		if value, ok := t.claims.elementIn(z.Path, z.Data); ok && len(t.byValue[value]) > 1 {
			stored[value] = append(stored[value], z)
		}
	}
	list := map[string]*pairing{}
	for value, znodes := range stored {
		list[value] = newPairing(t.history.Ops, znodes, value)
	}
	return list
}

func (t *table) gatherTakes() {
	var takes []*lin.Op
	for i := range t.history.Ops {
		if op := &t.history.Ops[i]; isTake(op) && !op.Empty && op.OK() {
			takes = append(takes, op)
		}
	}
	// The take that returns first has the fewest removals to choose from.
	slices.SortStableFunc(takes, func(a, b *lin.Op) int { return cmp.Compare(a.Return, b.Return) })
	var others []*lin.Op
	for _, op := range takes {
		equals := t.byValue[op.Output]
		e := removedBy(equals, op)
		if len(equals) == 1 {
			e = equals[0]
		}
		if e == nil {
			others = append(others, op)
			continue
		}
		e.takes, t.taken[op] = append(e.takes, op), e
	}
	for _, op := range others {
		e := t.takenBy(op)
		e.takes, t.taken[op] = append(e.takes, op), e
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if isTake(op) && !op.Empty && op.Outcome == lin.OpUnknown && t.anyOf(op.Output) != nil {
			e := t.takenBy(op)
			e.uncertainTakes = append(e.uncertainTakes, op)
		}
	}
}

// takenBy returns the element that a take returned, a new one if there is none of its value.
func (t *table) takenBy(op *lin.Op) *element {
	if equals := t.byValue[op.Output]; len(equals) > 0 {
		return takenOf(equals, op, t.claims.MayDuplicate)
	}
	e := t.newElement(op.Output)
	e.equals = t.byValue[e.value]
	return e
}

func (t *table) newElement(value string) *element {
	e := &element{value: value, name: cmp.Or(value, `""`)}
	t.byValue[value] = append(t.byValue[value], e)
	t.elements = append(t.elements, e)
	return e
}

// anyOf returns an element of a value, or nil. Equal elements have equal ranks.
func (t table) anyOf(value string) *element {
	if equals := t.byValue[value]; len(equals) > 0 {
		return equals[0]
	}
	return nil
}

func isTake(op *lin.Op) bool { return op.Kind == ops.Take || op.Kind == ops.Poll }

// storedIn returns the element that a znode at rest stands for, or nil.
func (t table) storedIn(n lin.NodeAtRest) *element {
	value, ok := t.claims.elementIn(n.Path, n.Data)
	if !ok {
		return nil
	}
	for _, e := range t.byValue[value] {
		if slices.ContainsFunc(e.znodes, func(z *judging.Znode) bool {
			return z.Path == n.Path && z.Deleted == judging.Never
		}) {
			return e
		}
	}
	return t.anyOf(value)
}

// about returns the element that a call put in, removed or returned, or nil.
func (t table) about(op *lin.Op) *element {
	if op.Kind == ops.Offer {
		return t.offered[op]
	}
	if r, ok := t.removalBy(op); ok {
		return r.element
	}
	return t.anyOf(op.Output)
}

// freeAt reports whether an element could be taken at a step, whose time is now. It also returns
// since when this was so.
func (t table) freeAt(
	e *element, z *judging.Znode, step int64, now time.Duration,
) (since time.Duration, ok bool) {
	since = max(z.CreatedTime, t.ranking.readyFrom(e))
	if since > now || !z.ExistsAt(step) {
		return 0, false
	}
	if t.free == nil {
		return since, true
	}
	from, ok := t.free(z, step)
	since = max(since, from)
	return since, ok && since <= now
}
