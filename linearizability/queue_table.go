package linearizability

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// queueTable is one history of a queue, with values derived from it once. Each property is a
// function of the table.
type queueTable struct {
	history  History
	log      serverLog
	claims   Queue
	ranking  ranking
	elements []*element // in the order of their first appearance
	byValue  map[string][]*element
	offered  map[*Op]*element // by its offer
	taken    map[*Op]*element // by a take that returned it
	removals []removal        // in the order of the steps
	// free reports whether a stored element could be taken at a step, and since which time; nil
	// means always.
	free func(z *znode, step int64) (since time.Duration, ok bool)
}

func newQueueTable(h History, claims Queue) queueTable {
	h = h.sorted()
	t := queueTable{
		history: h, log: readServer(h.Server), claims: claims, byValue: map[string][]*element{},
		offered: map[*Op]*element{}, taken: map[*Op]*element{},
	}
	t.gatherOffers()
	t.gatherZnodes()
	t.gatherTakes()
	t.removals = findRemovals(t)
	return t
}

func (t *queueTable) gatherOffers() {
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
func (t *queueTable) gatherZnodes() {
	for _, z := range t.log.znodes {
		value, ok := t.claims.elementIn(z.path, z.data)
		if equals := t.byValue[value]; ok && len(equals) > 0 {
			e := storedBy(equals, z, t.history.Ops)
			e.znodes = append(e.znodes, z)
		}
	}
	for _, e := range t.elements {
		if len(e.equals) > 1 && e == e.equals[0] {
			oldestLeavesFirst(e.equals)
		}
	}
}

func (t *queueTable) gatherTakes() {
	var takes []*Op
	for i := range t.history.Ops {
		if op := &t.history.Ops[i]; isTake(op) && !op.Empty && op.ok() {
			takes = append(takes, op)
		}
	}
	// The take that returns first has the fewest removals to choose from.
	slices.SortStableFunc(takes, func(a, b *Op) int { return cmp.Compare(a.Return, b.Return) })
	for _, op := range takes {
		e := t.takenBy(op)
		e.takes, t.taken[op] = append(e.takes, op), e
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if isTake(op) && !op.Empty && op.Outcome == OpUnknown && t.anyOf(op.Output) != nil {
			e := t.takenBy(op)
			e.uncertainTakes = append(e.uncertainTakes, op)
		}
	}
}

// takenBy returns the element that a take returned, a new one if there is none of its value.
func (t *queueTable) takenBy(op *Op) *element {
	if equals := t.byValue[op.Output]; len(equals) > 0 {
		return takenOf(equals, op)
	}
	e := t.newElement(op.Output)
	e.equals = t.byValue[e.value]
	return e
}

func (t *queueTable) newElement(value string) *element {
	e := &element{value: value, name: cmp.Or(value, `""`)}
	t.byValue[value] = append(t.byValue[value], e)
	t.elements = append(t.elements, e)
	return e
}

// anyOf returns an element of a value, or nil. Equal elements have equal ranks.
func (t queueTable) anyOf(value string) *element {
	if equals := t.byValue[value]; len(equals) > 0 {
		return equals[0]
	}
	return nil
}

func isTake(op *Op) bool { return op.Kind == ops.Take || op.Kind == ops.Poll }

// storedIn returns the element that a znode at rest stands for, or nil.
func (t queueTable) storedIn(n NodeAtRest) *element {
	value, ok := t.claims.elementIn(n.Path, n.Data)
	if !ok {
		return nil
	}
	for _, e := range t.byValue[value] {
		if slices.ContainsFunc(e.znodes, func(z *znode) bool {
			return z.path == n.Path && z.deleted == never
		}) {
			return e
		}
	}
	return t.anyOf(value)
}

// about returns the element that a call put in, removed or returned, or nil.
func (t queueTable) about(op *Op) *element {
	if op.Kind == ops.Offer {
		return t.offered[op]
	}
	if r, ok := t.removalBy(op); ok {
		return r.element
	}
	return t.anyOf(op.Output)
}

// freeAt reports whether an element could be taken at a step and its time, and since which time.
func (t queueTable) freeAt(
	e *element, z *znode, step int64, now time.Duration,
) (since time.Duration, ok bool) {
	since = max(z.createdTime, t.ranking.readyFrom(e))
	if since > now || !z.existsAt(step) {
		return 0, false
	}
	if t.free == nil {
		return since, true
	}
	from, ok := t.free(z, step)
	return max(since, from), ok
}
