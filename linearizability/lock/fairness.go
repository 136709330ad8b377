package lock

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeFairness looks for a client that overtook another one. At its grant, the znodes of others
// that are older were as many as may hold at once, and one of these clients was still waiting.
func judgeFairness(t table) lin.Verdict {
	for _, b := range grantsOf(t.holds) {
		if b.node == nil || b.second {
			continue // a continued hold keeps its place
		}
		var overtaken *waiter
		older := 0
		for _, a := range t.waiters {
			if a.node == b.node || a.node.Czxid >= b.node.Czxid || !a.node.ExistsAt(b.granted()) ||
				!t.kind.conflicts(a.op, b.lock) {
				continue
			}
			other := a.op.Client != b.lock.Client
			if other || t.kind.counted {
				older++
			}
			if overtaken == nil && other && a.op.Call < b.granted() && a.granted > b.granted() {
				overtaken = &a
			}
		}
		if overtaken != nil && older >= t.kind.capacity {
			return overtook(b, *overtaken, t.kind)
		}
	}
	return judging.Fine(lin.Order, "granted in the order in which the znodes were created")
}

func overtook(b *hold, a waiter, kind kind) lin.Verdict {
	return judging.Violated(lin.Order, []int64{a.op.Call, b.granted()},
		"%s overtook %s: %s was granted the %s at step %d with %s (czxid %d), "+
			"while %s waited with the older %s (czxid %d)",
		b.lock.Client, a.op.Client, b.lock.Client, kind.noun, b.granted(), b.node.Path,
		b.node.Czxid, a.op.Client, a.node.Path, a.node.Czxid)
}
