package object

import (
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/queue"
)

// DelayQueuer is a delay queue under test: an element can be taken from its due time on. The
// element that is due first leaves first; of several with one due time, the oldest. Due times are
// whole milliseconds. An element that is not due is not there. The rules for Take, and for the
// methods of Poller and Peeker, are those of [Queuer].
type DelayQueuer interface {
	Offer(ctx context.Context, data []byte, due time.Time) error
	Take(ctx context.Context) ([]byte, error)
}

// farDue is longer than the judge lets a take overlook an element without faults: a take that
// sleeps until this one is due must wake for an earlier one.
const farDue = 20 * time.Second

// DelayQueue makes a workload of a delay queue. The clients do the same as those of [Queue], with
// delays of up to three seconds, or none, in one run of four also of twenty seconds more; equal
// elements have equal due times. The claims are those of a queue; Unordered means that only
// delivery is judged.
func DelayQueue(open func(Env) DelayQueuer, given ...QueueClaims) scenario.Workload {
	return queueOf("delay-queue", ofKindDelayQueue, open, given,
		func(p *scenario.Player, h *scenario.Handle[DelayQueuer], round int, element string) (
			string, offer,
		) {
			drawn := p.Choose(scenario.At("delay", round), 4000) - 1000
			delay := max(0, time.Duration(drawn)*time.Millisecond)
			if p.OfRun("far due", 4) == 0 && p.Choose(scenario.At("far due", round), 2) == 0 {
				delay += farDue
			}
			due := p.Clock(delay).Truncate(time.Millisecond)
			if mayRepeat(element) {
				due = sameDue
			}
			return queue.Due(element, p.VirtualTime(due)), func(ctx context.Context) error {
				return h.Now().Offer(ctx, payloadOf(element), due)
			}
		})
}

func ofKindDelayQueue(q queue.Claims) linearizability.Claims {
	return queue.Delay(q)
}
