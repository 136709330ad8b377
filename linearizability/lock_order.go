package linearizability

import "slices"

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

// judgeFencing checks that every grant has a greater token than those before it.
func (c *lockCase) judgeFencing() Verdict {
	var last *hold
	for _, h := range c.grants() {
		if h.lock.Token == 0 {
			continue
		}
		if last != nil && h.lock.Token <= last.lock.Token {
			return violated(Fencing, []int64{last.granted(), h.granted()},
				"%s was granted the lock at step %d with token %d, but %s had token %d before it, at step %d: a resource that checks tokens turns %s away",
				h.lock.Client, h.granted(), h.lock.Token, last.lock.Client, last.lock.Token, last.granted(), h.lock.Client)
		}
		last = h
	}
	return fine(Fencing, "tokens grow with every grant")
}

// judgeFairness checks that nobody is granted the lock while an older znode of
// somebody who is still waiting is alive.
func (c *lockCase) judgeFairness() Verdict {
	for _, b := range c.grants() {
		if b.node == nil {
			continue
		}
		for _, a := range c.waiters() {
			overtaken := a.op.Client != b.lock.Client && a.node.czxid < b.node.czxid &&
				a.node.aliveAt(b.granted()) && a.op.Call < b.granted() && a.granted > b.granted()
			if overtaken {
				return violated(Order, []int64{a.op.Call, b.granted()},
					"%s overtook %s: %s was granted the lock at step %d with %s (czxid %d), while %s waited with the older %s (czxid %d)",
					b.lock.Client, a.op.Client, b.lock.Client, b.granted(), b.node.path, b.node.czxid, a.op.Client, a.node.path, a.node.czxid)
			}
		}
	}
	return fine(Order, "granted in the order in which the znodes were created")
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
		if op.Kind != KindLock || !op.pending() {
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
		if l.creator == op.Client && l.owner != 0 && below(c.opts.Path, l.path) && l.born >= op.Call && l.born <= op.end() {
			newest = l
		}
	}
	return newest
}
