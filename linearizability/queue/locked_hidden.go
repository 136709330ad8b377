package queue

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// clockStep is how much earlier a delivery may come back: ZooKeeper's times are whole milliseconds.
const clockStep = time.Millisecond

// judgeComingBack looks for two deliveries of an element within the time after which the first ends
// by itself. A second copy of the element may be delivered at any time.
func judgeComingBack(t lockedTable, after time.Duration) lin.Verdict {
	for i, a := range t.deliveries {
		for _, b := range t.deliveries[i+1:] {
			if a.element == b.element && len(a.element.znodes) <= 1 &&
				!mayFollow(a, b, after) && !mayFollow(b, a, after) {
				return judging.Violated(lin.Safety, []int64{a.take.Return, b.take.Return},
					"element %s was delivered by %s and again by %s, although a delivery comes "+
						"back only after %v",
					a.element.value, judging.Describe(*a.take), judging.Describe(*b.take), after)
			}
		}
	}
	return judging.Fine(lin.Safety, "no element was delivered again within %v", after)
}

// mayFollow reports whether the second delivery can have begun after the end of the first.
func mayFollow(first, second delivery, after time.Duration) bool {
	a, b := first.take, second.take
	ended := first.end != nil && first.end.Call < b.Return ||
		b.ReturnTime >= a.CallTime+after-clockStep
	return a.Call < b.Return && ended
}

// notHidden returns the function free of a table without locks. An element is free once the last
// delivery has certainly ended. A call without a result may have hidden any element.
func (t lockedTable) notHidden(
	after time.Duration,
) func(z *judging.Znode, step int64) (since time.Duration, ok bool) {
	return func(z *judging.Znode, step int64) (since time.Duration, ok bool) {
		value, _ := t.claims.elementIn(z.Path, z.Data)
		for _, op := range t.history.Ops {
			about := isTake(&op) && (!op.OK() || op.Output == value) ||
				(op.Kind == ops.Ack || op.Kind == ops.Release) && op.Input == value
			begun := op.Call <= step && (op.Outcome != lin.OpFailed || op.Return < step)
			if about && begun && !op.Pending() {
				since = max(since, op.ReturnTime+after)
			}
		}
		return since, true
	}
}
