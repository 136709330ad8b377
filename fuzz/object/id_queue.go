package object

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

// IDQueuer is a queue under test that can remove elements by their ids. Remove returns the number
// of removed elements; an error that is not ambiguous must mean that it has removed none. The rules
// for Take, and for the methods of Poller and Peeker, are those of [Queuer].
type IDQueuer interface {
	Offer(ctx context.Context, id string, data []byte) error
	Take(ctx context.Context) ([]byte, error)
	Remove(ctx context.Context, id string) (int, error)
}

// IDQueue makes a workload of a queue with ids. The clients do the same as those of [Queue], with
// two ids for each goroutine. After two offers in five a client removes the elements of one of its
// ids.
func IDQueue(open func(Env) IDQueuer, given ...QueueClaims) scenario.Workload {
	claims := queueClaims(given)
	return claims.workload("id-queue", ofKindIDQueue,
		scenario.Shared(opener(open, claims.Path),
			func(p *scenario.Player, s scenario.Script, h *scenario.Handle[IDQueuer]) {
				current := func() taker { return h.Now() }
				put := func(round int, element string) (string, offer) {
					id := idOf(p, p.Choose(scenario.At("id", round), 2*max(1, s.Goroutines)))
					offer := func(ctx context.Context) error {
						return h.Now().Offer(ctx, id, payloadOf(element))
					}
					return queue.Identified(element, id), offer
				}
				offered := func(round int) { discard(p, h.Now(), round) }
				queuePlayer{
					client: p, distinct: true, queue: current, put: put, offered: offered,
				}.play(s)
				p.Insist(ops.Discard, 0, func(int) error {
					return discardOnce(p.Context(), p, h.Now(), idOf(p, 2*p.Goroutine()))
				})
			}))
}

// idOf is the n-th id: in one run of three each is a prefix of the next.
func idOf(p *scenario.Player, n int) string {
	if p.OfRun("prefixes", 3) == 0 {
		return strings.Repeat("1", n+1)
	}
	return fmt.Sprint(n)
}

// discard removes the elements of one id, in some rounds, now and then with a short context.
func discard(p *scenario.Player, q IDQueuer, round int) {
	if p.Choose(scenario.At("discard", round), 5) > 1 {
		return
	}
	ctx, cancel := p.Hasty(p.Context(), 0, scenario.At("discarding", round), 3, 0,
		10*time.Millisecond)
	defer cancel()
	id := idOf(p, 2*p.Goroutine()+p.Choose(scenario.At("discarded id", round), 2))
	_ = discardOnce(ctx, p, q, id)
}

func discardOnce(ctx context.Context, p *scenario.Player, q IDQueuer, id string) error {
	c := p.Begin(ops.Discard, id)
	n, err := q.Remove(ctx, id)
	switch {
	case err == nil:
		c.OK(linearizability.Result{Output: fmt.Sprint(n)})
		return nil
	case isAmbiguous(err):
		c.Unknown(linearizability.Result{}, err)
	default:
		c.Failed(err)
	}
	p.Pause(retryPause)
	return err
}

func ofKindIDQueue(q queue.Claims) linearizability.Claims {
	return queue.WithIDs(q)
}
