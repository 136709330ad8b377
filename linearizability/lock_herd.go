package linearizability

// greatestHerd returns the most watch notifications that one release fired, and its step. A release
// is the delete of a znode through which the lock was held. Waiters that can hold the lock
// together, and get it by this release, count as one.
func greatestHerd(t lockTable) (notified int, step int64) {
	for _, h := range t.holds {
		if h.node == nil || h.node.deleted == never || h.node.notified <= notified {
			continue
		}
		if n := h.node.notified - max(0, wokenReaders(t, h)-1); n > notified {
			notified, step = n, h.node.deleted
		}
	}
	return notified, step
}

// wokenReaders counts the waiters for a shared hold that had nothing else to wait for when a hold
// ended.
func wokenReaders(t lockTable, h *hold) int {
	if t.kind.shared == nil || t.kind.isShared(h.lock) {
		return 0
	}
	n := 0
	for _, w := range t.waiters {
		if t.kind.isShared(w.op) && w.node.existsAt(h.node.deleted) && w.granted > h.node.deleted &&
			!isBehind(t, w, h.node.deleted) {
			n++
		}
	}
	return n
}

// isBehind reports whether the waiter has to wait for an older znode at a step.
func isBehind(t lockTable, w waiter, step int64) bool {
	for _, a := range t.waiters {
		if a.node.czxid < w.node.czxid && a.node.existsAt(step) && t.kind.conflicts(a.op, w.op) {
			return true
		}
	}
	return false
}

func judgeHerd(r Report, limit int) Verdict {
	if r.MaxHerd > limit {
		return violated(Herd, []int64{r.MaxHerdStep},
			"the release at step %d fired %s, and no more than %d should wake up",
			r.MaxHerdStep, count(r.MaxHerd, "watch notification"), limit)
	}
	return fine(Herd, "at most %s for one release", count(r.MaxHerd, "watch notification"))
}
