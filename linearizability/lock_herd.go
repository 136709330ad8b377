package linearizability

// herd returns the most watch notifications that one release fired, and its
// step. A release is the delete of a znode through which the lock was held. Those
// who can hold it together, and get it by this release, count as one.
func (c *lockCase) herd() (notified int, step int64) {
	for _, h := range c.holds {
		if h.node == nil || h.node.died == never || h.node.notified <= notified {
			continue
		}
		if n := h.node.notified - max(0, c.letIn(h)-1); n > notified {
			notified, step = n, h.node.died
		}
	}
	return notified, step
}

// letIn counts those who waited to share the lock when a hold ended, and for
// whom there was nobody else to wait.
func (c *lockCase) letIn(h *hold) int {
	if c.kind.shared == nil || c.kind.isShared(h.lock) {
		return 0
	}
	waiters, n := c.waiters(), 0
	for _, w := range waiters {
		if c.kind.isShared(w.op) && w.node.aliveAt(h.node.died) && w.granted > h.node.died && !c.isBehind(w, waiters, h.node.died) {
			n++
		}
	}
	return n
}

// isBehind reports whether the waiter has to wait for an older znode at a step.
func (c *lockCase) isBehind(w waiter, all []waiter, step int64) bool {
	for _, a := range all {
		if a.node.czxid < w.node.czxid && a.node.aliveAt(step) && c.kind.conflicts(a.op, w.op) {
			return true
		}
	}
	return false
}

func judgeHerd(r Report, limit int) Verdict {
	if r.MaxHerd > limit {
		return violated(Herd, []int64{r.MaxHerdStep},
			"the release at step %d fired %s, and no more than %d should wake up", r.MaxHerdStep, count(r.MaxHerd, "watch notification"), limit)
	}
	return fine(Herd, "at most %s for one release", count(r.MaxHerd, "watch notification"))
}
