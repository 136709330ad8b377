package fuzz

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

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
func DelayQueueWorkload(impl string, claims QueueClaims, open func(*zk.Conn) DelayQueuer) Workload {
	return claims.workload("delay-queue", impl, ofKindDelayQueue, shared(open, func(p *Player, s Script, h *handle[DelayQueuer]) {
		queuePlayer{Player: p, queue: func() taker { return h.now() }, put: func(round int, element string) (string, offer) {
			delay := max(0, time.Duration(p.Choose(4000, round+7000)-1000)*time.Millisecond)
			due := p.clock(delay).Truncate(time.Millisecond)
			return linearizability.Due(element, p.virtualTime(due)),
				func(ctx context.Context) error { return h.now().Offer(ctx, []byte(element), due) }
		}}.play(s)
	}))
}

func ofKindDelayQueue(q linearizability.Queue) linearizability.Claims {
	return linearizability.DelayQueue(q)
}

// TestDelayQueue tests a delay queue of your own as [TestQueue] tests a FIFO
// queue.
func TestDelayQueue(t TB, open func(*zk.Conn) DelayQueuer, claims ...QueueClaims) {
	t.Helper()
	Run(t, DelayQueueWorkload(t.Name(), only(t, claims), open))
}

// delayQueue is the delay queue to use.
func delayQueue() Workload {
	return DelayQueueWorkload("recipes.DelayQueue", claimsOfOurs("the delay queue of package recipes, exactly-once removal"),
		func(c *zk.Conn) DelayQueuer { return recipes.NewDelayQueue(InTurn(c), queuePath) })
}
