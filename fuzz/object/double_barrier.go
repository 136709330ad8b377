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

// DoubleBarrierer is a member of a double barrier under test.
type DoubleBarrierer interface {
	Enter(ctx context.Context) error
	Leave(ctx context.Context) error
}

// DoubleBarrier makes a workload of a double barrier. A group has as many members as there are
// clients or, in half of the runs, a number up to that. Each client calls open once, with the size
// in Env. In each round it enters, stays for a while and leaves. A client that has waited for half
// a minute gives up. The claims are those of a barrier; Path "" means /double.
func DoubleBarrier(open func(Env) DoubleBarrierer, given ...BarrierClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/double")
	return judgedAt(scenario.Workload{
		Name:  "double-barrier",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			size := groupSize(p, s.Clients)
			env := envOf(p, claims.Path)
			env.Size = size
			dp := doubleBarrierPlayer{p, open(env), strconv.Itoa(size), s.Careless}
			for round := range p.Rounds(s.Rounds) {
				p.Rest(round)
				dp.turn(round)
			}
			p.Insist(ops.Enter, s.Rounds, func(round int) error {
				return dp.stay(p.Context(), round)
			})
		},
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(s.Rounds) * (2*enterPatience + scenario.LongHold)
		},
	}, claims.Path, ops.Enter, func(e scenario.Evidence) linearizability.Claims {
		return barrier.Double{
			Path: claims.Path, Patience: enterPatience / 2,
			AllowedAtRest: leftBy(e, claims.LeavesAtRest, claims.Path+"/*"),
		}
	})
}

// enterPatience is how long a member waits for the others. Some of them may have given up a round.
const enterPatience = 30 * time.Second

type doubleBarrierPlayer struct {
	client   *scenario.Player
	member   DoubleBarrierer
	size     string
	careless bool
}

// groupSize draws the number of members of a group in this run.
func groupSize(p *scenario.Player, clients int) int {
	if p.Agree("everybody", 2) == 0 {
		return clients
	}
	return 1 + p.Agree("size", clients)
}

// turn enters, now and then with a short context, stays and leaves.
func (p doubleBarrierPlayer) turn(round int) {
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("enter", round), 8,
		time.Millisecond, 50*time.Millisecond)
	defer cancel()
	_ = p.stay(ctx, round)
}

// stay enters, stays and leaves. It returns an error if the member could not enter although it had
// time.
func (p doubleBarrierPlayer) stay(ctx context.Context, round int) error {
	ctx, cancel := p.client.Within(ctx, enterPatience)
	defer cancel()
	err := p.client.Call(ops.Enter, p.size, func(context.Context) error {
		return p.member.Enter(ctx)
	})
	if err != nil {
		return scenario.Waited(ctx, err)
	}
	p.client.Hold(scenario.At("hold", round), nil)
	if p.careless && p.client.Choose(scenario.At("leave once", round), 3) == 0 {
		p.leaveCanceled()
		return nil
	}
	p.client.Persist(func(attempt int) error {
		return p.client.Call(ops.Leave, "", func(ctx context.Context) error {
			ctx, cancel := p.client.Hasty(ctx, attempt, scenario.At("leave", round), 8,
				time.Millisecond, 50*time.Millisecond)
			defer cancel()
			return p.member.Leave(ctx)
		})
	})
	return nil
}

// leaveCanceled calls Leave once with a context that is done. The member must leave all the same.
func (p doubleBarrierPlayer) leaveCanceled() {
	_ = p.client.Call(ops.Leave, "", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return p.member.Leave(ctx)
	})
}
