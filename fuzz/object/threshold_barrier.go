package object

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/barrier"
	"github.com/zksim/zksim/linearizability/ops"
)

// ThresholdBarrierer is a threshold barrier under test. Set closes the barrier until the given
// number of members call Wait. A barrier that was never set is closed. An open one stays open until
// the next Set; the members that wait then count for the new number.
type ThresholdBarrierer interface {
	Set(ctx context.Context, members int) error
	Wait(ctx context.Context) error
}

// ThresholdBarrier makes a workload of a threshold barrier. Each client calls open once. The first
// client sets the barrier to the number of clients, and all wait. Later each of them sets it to a
// drawn number now and then, also while others wait. A client that has waited for half a minute
// gives up. The claims are those of a barrier; Path "" means /thresholds/t.
func ThresholdBarrier(open func(Env) ThresholdBarrierer, given ...BarrierClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/thresholds/t")
	return judgedAt(scenario.Workload{
		Name:  "threshold-barrier",
		Main:  []string{ops.Set, ops.Wait},
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			env := envOf(p, claims.Path)
			env.Size = s.Clients
			tp := thresholdPlayer{p, open(env), s.Clients}
			for round := range p.Rounds(2 * s.Rounds) {
				p.Rest(round)
				tp.turn(round)
			}
			p.Insist(ops.Wait, 2*s.Rounds, func(round int) error {
				return tp.wait(p.Context(), round)
			})
		},
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(2*s.Rounds) * (2*enterPatience + scenario.LongHold)
		},
	}, claims.Path, ops.Set, func(e scenario.Evidence) linearizability.Claims {
		return barrier.Threshold{
			Path: claims.Path, StaleReads: claims.StaleReads, Patience: enterPatience / 2,
			AllowedAtRest: leftBy(e, claims.LeavesAtRest, claims.Path+"/*"),
		}
	})
}

type thresholdPlayer struct {
	client  *scenario.Player
	barrier ThresholdBarrierer
	clients int
}

// turn sets the barrier, now and then, waits and stays for a while.
func (p thresholdPlayer) turn(round int) {
	switch {
	case round == 0 && p.client.Index() == 0:
		p.set(round, p.clients)
	case round > 0 && p.client.Choose(scenario.At("set", round), 3) == 0:
		p.set(round, 1+p.client.Choose(scenario.At("members", round), p.clients))
	}
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("wait", round), 6,
		time.Millisecond, 50*time.Millisecond)
	defer cancel()
	_ = p.wait(ctx, round)
}

// wait waits and stays for a while.
func (p thresholdPlayer) wait(ctx context.Context, round int) error {
	ctx, cancel := p.client.Within(ctx, enterPatience)
	defer cancel()
	err := p.client.Call(ops.Wait, "", func(context.Context) error { return p.barrier.Wait(ctx) })
	if err == nil {
		p.client.Hold(scenario.At("hold", round), nil)
	}
	return scenario.Waited(ctx, err)
}

// set sets the barrier until that succeeds. The first attempt has a short context in some rounds.
func (p thresholdPlayer) set(round, members int) {
	p.client.Persist(func(attempt int) error {
		return p.client.Call(ops.Set, strconv.Itoa(members),
			func(ctx context.Context) error {
				ctx, cancel := p.client.Hasty(ctx, attempt, scenario.At("setting", round), 6,
					time.Millisecond, 50*time.Millisecond)
				defer cancel()
				return p.barrier.Set(ctx, members)
			})
	})
}
