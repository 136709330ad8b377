package lock

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// greatestHerd returns the most watch notifications that one release fired, and its step. A release
// is the delete of a znode through which the lock was held. Waiters that can hold the lock
// together, and get it by this release, count as one.
func greatestHerd(t table) (notified int, step int64) {
	for _, h := range t.holds {
		if h.node == nil || h.node.Deleted == judging.Never || h.node.Notified <= notified {
			continue
		}
		if n := h.node.Notified - max(0, wokenReaders(t, h)-1); n > notified {
			notified, step = n, h.node.Deleted
		}
	}
	return notified, step
}

// wokenReaders counts the waiters for a shared hold that had nothing else to wait for when a hold
// ended.
func wokenReaders(t table, h *hold) int {
	if t.kind.shared == nil || t.kind.isShared(h.lock) {
		return 0
	}
	n := 0
	for _, w := range t.waiters {
		if t.kind.isShared(w.op) && w.node.ExistsAt(h.node.Deleted) && w.granted > h.node.Deleted &&
			!isBehind(t, w, h.node.Deleted) {
			n++
		}
	}
	return n
}

// isBehind reports whether the waiter has to wait for an older znode at a step.
func isBehind(t table, w waiter, step int64) bool {
	for _, a := range t.waiters {
		if a.node.Czxid < w.node.Czxid && a.node.ExistsAt(step) && t.kind.conflicts(a.op, w.op) {
			return true
		}
	}
	return false
}

func judgeHerd(r lin.Report, limit int) lin.Verdict {
	if r.MaxHerd > limit {
		return judging.Violated(lin.Herd, []int64{r.MaxHerdStep},
			"the release at step %d fired %s, and no more than %d should wake up",
			r.MaxHerdStep, judging.Count(r.MaxHerd, "watch notification"), limit)
	}
	return judging.Fine(lin.Herd, "at most %s for one release", judging.Count(r.MaxHerd, "watch notification"))
}
