package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// element is one thing that went through the queue, or should have.
type element struct {
	value string
	offer *Op     // nil if nobody offered it
	lives []*life // its znodes in the order of their creates; more than one is a duplicate
	takes []*Op   // those that returned it with success
	hints []*Op   // those that returned it with an unknown outcome
}

// removal is the delete of an element's znode, and the call that asked for it.
type removal struct {
	life *life
	by   *Op // nil if no call of that client could have
}

// queueCase is one history of one queue, prepared for judging.
type queueCase struct {
	history  History
	log      serverLog
	opts     Queue
	elements []*element // in the order of their first appearance
	byValue  map[string]*element
	removals []removal // in the order of the steps
	ranks    ranks
	ids      map[string]string // of elements that can be removed by them
	discards map[*element]*Op  // what removed an element by its id
	// free reports whether somebody could take an element that is stored, at a
	// step, and since when; nil: always.
	free func(l *life, step int64) (since time.Duration, ok bool)
}

func newQueueCase(h History, opts Queue) *queueCase {
	h = h.sorted()
	if opts.Items == "" {
		opts.Items = opts.Path
	}
	c := &queueCase{history: h, log: readServer(h.Server), opts: opts, byValue: map[string]*element{}}
	c.gatherOffers()
	c.gatherLives()
	c.gatherTakes()
	c.assignRemovals()
	return c
}

func (c *queueCase) element(value string) *element {
	e, ok := c.byValue[value]
	if !ok {
		e = &element{value: value}
		c.byValue[value] = e
		c.elements = append(c.elements, e)
	}
	return e
}

func (c *queueCase) gatherOffers() {
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Kind != KindOffer {
			continue
		}
		e := c.element(op.Input)
		if e.offer != nil {
			panic(fmt.Sprintf("linearizability: element %q is offered at steps %d and %d; elements must be unique", op.Input, e.offer.Call, op.Call))
		}
		e.offer = op
	}
}

// decode returns the element a znode stands for.
func (c *queueCase) decode(path, data string) (string, bool) {
	if !below(c.opts.Items, path) {
		return "", false
	}
	if c.opts.Items != "" && strings.Contains(path[len(strings.TrimSuffix(c.opts.Items, "/"))+1:], "/") {
		return "", false // not a child
	}
	if c.opts.Element != nil {
		return c.opts.Element(data)
	}
	return data, true
}

// gatherLives takes as elements only what somebody offered: the directory may
// hold other znodes.
func (c *queueCase) gatherLives() {
	for _, l := range c.log.lives {
		if value, ok := c.decode(l.path, l.data); ok && c.byValue[value] != nil {
			c.byValue[value].lives = append(c.byValue[value].lives, l)
		}
	}
}

func isTake(op *Op) bool { return op.Kind == KindTake || op.Kind == KindPoll }

func (c *queueCase) gatherTakes() {
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		switch {
		case !isTake(op) || op.Empty:
		case op.ok():
			e := c.element(op.Output)
			e.takes = append(e.takes, op)
		case op.Outcome == OpUnknown && c.byValue[op.Output] != nil:
			e := c.byValue[op.Output]
			e.hints = append(e.hints, op)
		}
	}
}

// assignRemovals finds the call behind each removed znode: the take of the same
// client that returned the element, or else the last one without a result that
// the client had called by then.
func (c *queueCase) assignRemovals() {
	used := map[*Op]bool{}
	var open []removal
	for _, e := range c.elements {
		for _, l := range e.lives {
			if l.died == never {
				continue
			}
			by := firstFree(e.takes, used, l)
			if by == nil {
				by = firstFree(e.hints, used, l)
			}
			if by != nil {
				used[by] = true
			}
			open = append(open, removal{l, by})
		}
	}
	slices.SortStableFunc(open, func(a, b removal) int { return compare(a.life.died, b.life.died) })
	for i, r := range open {
		if r.by != nil {
			continue
		}
		if by := c.suspect(r.life, used); by != nil {
			open[i].by, used[by] = by, true
		}
	}
	c.removals = open
}

func firstFree(takes []*Op, used map[*Op]bool, l *life) *Op {
	for _, op := range takes {
		if !used[op] && op.Call <= l.died && (op.Client == l.remover || l.remover == "") {
			return op
		}
	}
	return nil
}

func (c *queueCase) suspect(l *life, used map[*Op]bool) *Op {
	var last *Op
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if isTake(op) && !op.ok() && !used[op] && l.remover != "" && op.Client == l.remover && op.Call <= l.died {
			last = op
		}
	}
	return last
}

// freeAt reports whether an element could be taken, at a step and its time, and
// since when.
func (c *queueCase) freeAt(e *element, l *life, step int64, now time.Duration) (since time.Duration, ok bool) {
	since = max(l.bornTime, c.ranks.readyFrom(e))
	if since > now || !l.aliveAt(step) {
		return 0, false
	}
	if c.free == nil {
		return since, true
	}
	from, ok := c.free(l, step)
	return max(since, from), ok
}

// removed returns the removal of a znode, and whether it was removed.
func (c *queueCase) removed(l *life) (removal, bool) {
	for _, r := range c.removals {
		if r.life == l {
			return r, true
		}
	}
	return removal{}, false
}

// removedBy returns the removal that a call made, if it made one.
func (c *queueCase) removedBy(op *Op) (removal, bool) {
	for _, r := range c.removals {
		if r.by == op {
			return r, true
		}
	}
	return removal{}, false
}
