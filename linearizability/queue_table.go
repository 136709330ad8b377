package linearizability

import (
	"fmt"
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
	byValue  map[string]*element
	removals []removal // in the order of the steps
	// free reports whether a stored element could be taken at a step, and since which time; nil
	// means always.
	free func(z *znode, step int64) (since time.Duration, ok bool)
}

func newQueueTable(h History, claims Queue) queueTable {
	h = h.sorted()
	t := queueTable{
		history: h, log: readServer(h.Server), claims: claims, byValue: map[string]*element{},
	}
	t.gatherOffers()
	t.gatherZnodes()
	t.gatherTakes()
	t.removals = findRemovals(t)
	return t
}

func (t *queueTable) gatherOffers() {
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Kind != ops.Offer {
			continue
		}
		e := t.element(op.Input)
		if e.offer != nil {
			panic(fmt.Sprintf("linearizability: element %q is offered at steps %d and %d; "+
				"elements must be unique", op.Input, e.offer.Call, op.Call))
		}
		e.offer = op
	}
}

// gatherZnodes adds the znodes of offered elements: the directory may hold other znodes.
func (t *queueTable) gatherZnodes() {
	for _, z := range t.log.znodes {
		if value, ok := t.claims.elementIn(z.path, z.data); ok && t.byValue[value] != nil {
			t.byValue[value].znodes = append(t.byValue[value].znodes, z)
		}
	}
}

func (t *queueTable) gatherTakes() {
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		switch {
		case !isTake(op) || op.Empty:
		case op.ok():
			e := t.element(op.Output)
			e.takes = append(e.takes, op)
		case op.Outcome == OpUnknown && t.byValue[op.Output] != nil:
			e := t.byValue[op.Output]
			e.hints = append(e.hints, op)
		}
	}
}

// element returns the element of a value, a new one if there is none.
func (t *queueTable) element(value string) *element {
	e, ok := t.byValue[value]
	if !ok {
		e = &element{value: value}
		t.byValue[value] = e
		t.elements = append(t.elements, e)
	}
	return e
}

func isTake(op *Op) bool { return op.Kind == ops.Take || op.Kind == ops.Poll }

// storedIn returns the element that a znode at rest stands for, or nil.
func (t queueTable) storedIn(n NodeAtRest) *element {
	value, ok := t.claims.elementIn(n.Path, n.Data)
	if !ok {
		return nil
	}
	return t.byValue[value]
}

// about returns the element that a call put in, removed or returned, or nil.
func (t queueTable) about(op *Op) *element {
	if op.Kind == ops.Offer {
		return t.byValue[op.Input]
	}
	if r, ok := t.removalBy(op); ok {
		return r.element
	}
	return t.byValue[op.Output]
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
