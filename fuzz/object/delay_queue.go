package object

import (
	"cmp"
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// DelayQueuer is a delay queue under test: an element can be taken from due on,
// the one that is due first before others, and of several the oldest. Moments are
// whole milliseconds. What is said of Take, and of the methods of Poller and
// Peeker, is what a Queuer needs; an element that is not due is not there.
type DelayQueuer interface {
	Offer(ctx context.Context, data []byte, due time.Time) error
	Take(ctx context.Context) ([]byte, error)
}

// DelayQueueWorkload makes a workload of a delay queue. The clients do what those
// of QueueWorkload do, with delays of up to three seconds, or none. The claims are
// those of a queue; Unordered is one of which only delivery is to be judged.
func DelayQueue(open func(Env) DelayQueuer, given ...QueueClaims) scenario.Workload {
	claims := only(given)
	return claims.workload("delay-queue", ofKindDelayQueue,
		scenario.Shared(opener(open, cmp.Or(claims.Path, queuePath)),
			func(p *scenario.Player, s scenario.Script, h *scenario.Handle[DelayQueuer]) {
				queuePlayer{Player: p, queue: func() taker {
					return h.Now()
				}, put: func(round int, element string) (string, offer) {
					delay := max(0, time.Duration(p.Choose(scenario.At("delay", round),
						4000)-1000)*time.Millisecond)
					due := p.Clock(delay).Truncate(time.Millisecond)
					return linearizability.Due(element, p.VirtualTime(due)),
						func(ctx context.Context) error { return h.Now().Offer(ctx, []byte(element), due) }
				}}.play(s)
			}))
}

// delayQueue is the delay queue to use.
func delayQueue() scenario.Workload {
	return DelayQueue(func(env Env) DelayQueuer {
		return recipes.NewDelayQueue(env.InTurn(), env.Path)
	}, claimsOfOurs("the delay queue of package recipes, exactly-once removal")).Named("recipes.DelayQueue")
}

func ofKindDelayQueue(q linearizability.Queue) linearizability.Claims {
	return linearizability.DelayQueue(q)
}
