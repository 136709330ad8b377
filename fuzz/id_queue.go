package fuzz

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// IDQueuer is a queue under test from which elements can be removed by their ids.
// Remove returns how many it has removed; an error that does not wrap
// recipes.ErrAmbiguous must mean that it has removed none. What is said of Take,
// and of the methods of Poller and Peeker, is what a Queuer needs.
type IDQueuer interface {
	Offer(ctx context.Context, id string, data []byte) error
	Take(ctx context.Context) ([]byte, error)
	Remove(ctx context.Context, id string) (int, error)
}

// IDQueueWorkload makes a workload of a queue with ids. The clients do what those
// of QueueWorkload do, with two ids for each hand, and discard one of their own
// after two offers in five.
func IDQueueWorkload(impl string, claims QueueClaims, open func(*zk.Conn) IDQueuer) Workload {
	return claims.workload("id-queue", impl, ofKindIDQueue, shared(open, func(p *Player, s Script, h *handle[IDQueuer]) {
		queuePlayer{Player: p, queue: func() taker { return h.now() }, put: func(round int, element string) (string, offer) {
			id := fmt.Sprint(p.Choose(2*s.hands(), round+7000))
			return linearizability.Identified(element, id), func(ctx context.Context) error { return h.now().Offer(ctx, id, []byte(element)) }
		}, offered: func(round int) { discard(p, h.now(), round) }}.play(s)
	}))
}

func ofKindIDQueue(q linearizability.Queue) linearizability.Claims {
	return linearizability.IDQueue(q)
}

// discard removes the elements of one id, in some rounds, with little patience in
// some of those.
func discard(p *Player, q IDQueuer, round int) {
	if p.Choose(5, round+8000) > 1 {
		return
	}
	ctx, cancel := p.Hasty(p.Context(), 3, round+9000, 0, 10*time.Millisecond)
	defer cancel()
	id := fmt.Sprint(2*p.client.Number() + p.Choose(2, round+11000))
	c := p.Begin(ops.Discard, id)
	n, err := q.Remove(ctx, id)
	switch {
	case err == nil:
		c.OK(linearizability.Result{Output: fmt.Sprint(n)})
		return
	case errors.Is(err, recipes.ErrAmbiguous):
		c.Unknown(linearizability.Result{}, err)
	default:
		c.Failed(err)
	}
	p.Pause(retryPause)
}

// TestIDQueue tests a queue with ids of your own as [TestQueue] tests a FIFO
// queue.
func TestIDQueue(t TB, open func(*zk.Conn) IDQueuer, claims ...QueueClaims) {
	t.Helper()
	Run(t, IDQueueWorkload(t.Name(), only(t, claims), open))
}

// idQueue is the queue to use for work that may be called off.
func idQueue() Workload {
	return IDQueueWorkload("recipes.IDQueue", claimsOfOurs("the queue with ids of package recipes, exactly-once removal"),
		func(c *zk.Conn) IDQueuer { return recipes.NewIDQueue(InTurn(c), queuePath) })
}
