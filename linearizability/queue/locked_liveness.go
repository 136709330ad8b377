package queue

import (
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgeLockedLiveness is judgeLiveness for calls of all kinds: no ack and no release may be
// pending at rest.
func judgeLockedLiveness(t lockedTable, left *lin.Leftovers) []lin.Verdict {
	stuck := judging.PendingOps(t.history, ops.Ack, ops.Release)
	if left != nil && len(stuck) > 0 {
		return []lin.Verdict{judging.Violated(lin.Liveness, []int64{stuck[0].Call},
			"%s never returned, although the faults stopped", judging.Describe(stuck[0]))}
	}
	return judgeLiveness(t.table, left)
}

// holds reports whether the client has an element and has not begun to end its delivery.
func (t lockedTable) holds(client string) bool {
	return slices.ContainsFunc(t.deliveries, func(d delivery) bool {
		return d.take.Client == client && d.end == nil
	})
}

// lockedOrphans leaves out the locks of elements that are still held, and says of others which
// deliveries have ended without them.
func lockedOrphans(t lockedTable, left *lin.Leftovers) (list []judging.Orphan) {
	for _, o := range orphansOf(t.table, left) {
		of := slices.IndexFunc(t.deliveries, func(d delivery) bool {
			return d.lock != nil && d.lock.Czxid == o.Node.Czxid
		})
		if of < 0 {
			list = append(list, o)
		} else if d := t.deliveries[of]; d.end != nil {
			o.Why = fmt.Sprintf("still locks element %s after %s",
				d.element.value, judging.Describe(*d.end))
			list = append(list, o)
		}
	}
	return list
}
