package linearizability

import (
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
)

// judgeLockedLiveness is judgeQueueLiveness for calls of all kinds: no ack and no release may be
// pending at rest.
func judgeLockedLiveness(t lockedTable, left *Leftovers) []Verdict {
	stuck := PendingOps(t.history, ops.Ack, ops.Release)
	if left != nil && len(stuck) > 0 {
		return []Verdict{violated(Liveness, []int64{stuck[0].Call},
			"%s never returned, although the faults stopped", describe(stuck[0]))}
	}
	return judgeQueueLiveness(t.queueTable, left)
}

// holds reports whether the client has an element and has not begun to end its delivery.
func (t lockedTable) holds(client string) bool {
	return slices.ContainsFunc(t.deliveries, func(d delivery) bool {
		return d.take.Client == client && d.end == nil
	})
}

// lockedOrphans leaves out the locks of elements that are still held.
func lockedOrphans(t lockedTable, left *Leftovers) []orphan {
	return slices.DeleteFunc(queueOrphans(t.queueTable, left), func(o orphan) bool {
		return slices.ContainsFunc(t.deliveries, func(d delivery) bool {
			return d.end == nil && d.lock != nil && d.lock.czxid == o.node.Czxid
		})
	})
}
