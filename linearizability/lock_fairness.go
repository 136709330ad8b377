package linearizability

import (
	"cmp"
	"path"
	"slices"
)

// grants returns the holds in the order in which the lock was granted, as far as
// that is known.
func (c *lockCase) grants() []*hold {
	var list []*hold
	for _, h := range c.holds {
		if h.ending != perhaps {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b *hold) int { return compare(a.granted(), b.granted()) })
	return list
}

// judgeFencing checks that every grant has a greater token than those before it
// with which it conflicts.
func (c *lockCase) judgeFencing() Verdict {
	grants := c.grants()
	for i, b := range grants {
		a := c.greatest(grants[:i], b)
		if a == nil || b.lock.Token > a.lock.Token || b.lock.Token == 0 {
			continue
		}
		return violated(Fencing, []int64{a.granted(), b.granted()},
			"%s was granted the %s at step %d with token %d, but %s had token %d before it, at step %d: a resource that checks tokens turns %s away",
			b.lock.Client, c.kind.noun, b.granted(), b.lock.Token, a.lock.Client, a.lock.Token, a.granted(), b.lock.Client)
	}
	return fine(Fencing, "tokens grow with every grant")
}

// greatest returns the grant with the greatest token of those that conflict with
// b, or nil. What one owner holds in two ways is no conflict.
func (c *lockCase) greatest(grants []*hold, b *hold) *hold {
	var top *hold
	for _, a := range grants {
		if a.lock.Token == 0 || !c.kind.conflicts(a.lock, b.lock) || c.kind.named && !c.differs(a, b) {
			continue
		}
		if top == nil || a.lock.Token > top.lock.Token {
			top = a
		}
	}
	return top
}

// judgeFairness checks that nobody is granted the lock while older znodes of
// others, one of whom is still waiting, take all the places.
func (c *lockCase) judgeFairness() Verdict {
	for _, b := range c.grants() {
		if b.node == nil || b.beside {
			continue // what continues another hold has its place
		}
		var overtaken *waiter
		older := 0
		for _, a := range c.waiters() {
			if a.node == b.node || a.node.czxid >= b.node.czxid || !a.node.aliveAt(b.granted()) || !c.kind.conflicts(a.op, b.lock) {
				continue
			}
			if a.op.Client != b.lock.Client || c.kind.counted {
				older++
			}
			if overtaken == nil && a.op.Client != b.lock.Client && a.op.Call < b.granted() && a.granted > b.granted() {
				overtaken = &a
			}
		}
		if overtaken != nil && older >= c.kind.capacity {
			return c.overtook(b, *overtaken)
		}
	}
	return fine(Order, "granted in the order in which the znodes were created")
}

func (c *lockCase) overtook(b *hold, a waiter) Verdict {
	return violated(Order, []int64{a.op.Call, b.granted()},
		"%s overtook %s: %s was granted the %s at step %d with %s (czxid %d), while %s waited with the older %s (czxid %d)",
		b.lock.Client, a.op.Client, b.lock.Client, c.kind.noun, b.granted(), b.node.path, b.node.czxid, a.op.Client, a.node.path, a.node.czxid)
}

// waiter is a lock operation that was granted in the end, or still waits.
type waiter struct {
	op      Op
	node    *life
	granted int64 // never, if it still waits
}

func (c *lockCase) waiters() []waiter {
	var list []waiter
	for _, h := range c.holds {
		if h.node != nil {
			list = append(list, waiter{h.lock, h.node, h.granted()})
		}
	}
	for _, op := range c.history.Ops {
		if op.Kind != c.kind.acquire || !op.pending() {
			continue
		}
		if l := c.newestNodeOf(op); l != nil {
			list = append(list, waiter{op, l, never})
		}
	}
	return list
}

// newestNodeOf returns the last ephemeral that the client made during the
// operation: an earlier one may be left over from an attempt it has given up.
func (c *lockCase) newestNodeOf(op Op) *life {
	var newest *life
	for _, l := range c.log.lives {
		if c.madeBy(l, op) && below(c.dir(), l.path) {
			newest = l
		}
	}
	return newest
}

func (c *lockCase) madeBy(l *life, op Op) bool {
	return l.creator == op.Client && l.owner != 0 && l.born >= op.Call && l.born <= op.end()
}

// isPartOf reports whether a pending operation needs the znode: it is the newest
// one that its client made for it in that directory.
func (c *lockCase) isPartOf(l *life, op Op) bool {
	if !c.madeBy(l, op) || !below(c.opts.Path, l.path) {
		return false
	}
	for _, other := range c.log.lives {
		if other.born > l.born && c.madeBy(other, op) && path.Dir(other.path) == path.Dir(l.path) {
			return false
		}
	}
	return true
}

// dir is the directory of the znodes through which the lock is held.
func (c *lockCase) dir() string { return cmp.Or(c.opts.Nodes, c.opts.Path) }
