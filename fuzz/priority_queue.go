package fuzz

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// PriorityQueuer is a priority queue under test: the element with the smallest
// priority leaves first, and of several the oldest. What is said of Take, and of
// the methods of Poller and Peeker, is what a Queuer needs.
type PriorityQueuer interface {
	Offer(ctx context.Context, data []byte, priority int32) error
	Take(ctx context.Context) ([]byte, error)
}

// PriorityQueueWorkload makes a workload of a priority queue. The clients do what
// those of QueueWorkload do, with three priorities. The claims are those of a
// queue; Unordered is one that does not claim to go by priorities.
func PriorityQueueWorkload(impl string, claims QueueClaims, open func(*zk.Conn) PriorityQueuer) Workload {
	return claims.workload("priority-queue", impl, ofKindPriorityQueue, shared(open, func(p *Player, s Script, h *handle[PriorityQueuer]) {
		queuePlayer{Player: p, queue: func() taker { return h.now() }, put: func(round int, element string) (string, offer) {
			priority := int32(p.Choose(3, round+7000)) - 1
			return linearizability.Prioritized(element, int64(priority)),
				func(ctx context.Context) error { return h.now().Offer(ctx, []byte(element), priority) }
		}}.play(s)
	}))
}

func ofKindPriorityQueue(q linearizability.Queue) linearizability.Claims {
	return linearizability.PriorityQueue(q)
}

// TestPriorityQueue tests a priority queue of your own as [TestQueue] tests a
// FIFO queue.
func TestPriorityQueue(t TB, open func(*zk.Conn) PriorityQueuer, claims ...QueueClaims) {
	t.Helper()
	Run(t, PriorityQueueWorkload(t.Name(), only(t, claims), open))
}

// priorityQueue is the priority queue to use.
func priorityQueue() Workload {
	return PriorityQueueWorkload("recipes.PriorityQueue", claimsOfOurs("the priority queue of package recipes, exactly-once removal"),
		func(c *zk.Conn) PriorityQueuer { return recipes.NewPriorityQueue(InTurn(c), queuePath) })
}

// claimsOfOurs are those of the queues of package recipes that remove by claims.
func claimsOfOurs(about string) QueueClaims {
	return QueueClaims{About: about, Items: queuePath + "/items", LeavesAtRest: []string{queuePath + "/claims", queuePath + "/dedup"}}
}
