package object

import (
	"context"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/queue"
)

// PriorityQueuer is a priority queue under test: the element with the smallest priority leaves
// first; of several with one priority, the oldest. The rules for Take, and for the methods of
// Poller and Peeker, are those of [Queuer].
type PriorityQueuer interface {
	Offer(ctx context.Context, data []byte, priority int32) error
	Take(ctx context.Context) ([]byte, error)
}

// PriorityQueue makes a workload of a priority queue. The clients do the same as those of [Queue],
// with three priorities, in one run of three with others of one to three digits; equal elements
// have equal ones. The claims are those of a queue; Unordered says that the queue ignores
// priorities.
func PriorityQueue(open func(Env) PriorityQueuer, given ...QueueClaims) scenario.Workload {
	return queueOf("priority-queue", ofKindPriorityQueue, open, given,
		func(p *scenario.Player, h *scenario.Handle[PriorityQueuer], round int, element string) (
			string, offer,
		) {
			priority := priorityOf(p, round)
			if mayRepeat(element) {
				priority = 0
			}
			return queue.Prioritized(element, int64(priority)), func(ctx context.Context) error {
				return h.Now().Offer(ctx, payloadOf(element), priority)
			}
		})
}

// farPriorities are in another order if their digits are compared as text.
var farPriorities = []int32{-10, -9, 2, 9, 10, 100}

// priorityOf is the priority of the element of a round: in one run of three one of farPriorities,
// in the others from -1 to 1.
func priorityOf(p *scenario.Player, round int) int32 {
	if p.OfRun("far priorities", 3) == 0 {
		return farPriorities[p.Choose(scenario.At("far priority", round), len(farPriorities))]
	}
	return int32(p.Choose(scenario.At("priority", round), 3)) - 1
}

func ofKindPriorityQueue(q queue.Claims) linearizability.Claims {
	return queue.Priority(q)
}
