package scenario

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgePromptness adds a verdict to a report if a call went on for too long after its context was
// done. The time allowed is enough to undo the begun work, and to poll once more. With faults it
// counts from the last notice to the client, and is longer than the faults.
func judgePromptness(r *linearizability.Report, h linearizability.History, plan []fault.Fault) {
	limit := SessionTimeout
	if len(plan) > 0 {
		limit *= 2
	}
	for _, f := range plan {
		limit += f.For
	}
	for _, op := range h.Ops {
		if late := lateness(h, op); late > limit {
			r.Worsen(violatedLiveness([]int64{op.Call, op.Return},
				"%s's %s (steps %d to %d) went on for %s after its context was done",
				op.Client, op.Kind, op.Call, op.Return, virtualTime(op.ReturnTime-op.Deadline)))
			return
		}
	}
}

// lateness is how long a call went on after its context was done, and after the last notice to its
// client. A release must complete in spite of its context, so it is never late.
func lateness(h linearizability.History, op linearizability.Op) time.Duration {
	releases := []string{ops.Close, ops.Release, ops.Unlock, ops.Resign, ops.Leave}
	if op.Deadline == 0 || op.Return < 0 || slices.Contains(releases, op.Kind) {
		return 0
	}
	from, connected := op.Deadline, true
	for _, n := range h.Notices {
		if n.Client == op.Client && n.Step <= op.Return {
			from = max(from, n.Time)
			switch n.Kind {
			case linearizability.Connected:
				connected = true
			case linearizability.Disconnected, linearizability.SessionExpired, linearizability.Died:
				connected = false
			}
		}
	}
	if !connected {
		return 0
	}
	return op.ReturnTime - from
}
