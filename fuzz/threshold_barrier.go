package fuzz

import (
	"context"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// ThresholdBarrierer is a threshold barrier under test: Set closes it until so many
// members are there, each of whom calls Wait.
type ThresholdBarrierer interface {
	Set(ctx context.Context, members int) error
	Wait(ctx context.Context) error
}

// ThresholdBarrierWorkload makes a workload of a threshold barrier. Each client calls
// open once, with a connection of its own. The first one sets the barrier to the
// number of clients, and all wait; later any of them sets it to any number now and
// then, also while others wait. Who has waited for half a minute gives up. The claims
// are those of a barrier; Path "" means /thresholds/t.
func ThresholdBarrierWorkload(impl string, claims BarrierClaims, open func(*zk.Conn) ThresholdBarrierer) Workload {
	if claims.Path == "" {
		claims.Path = thresholdBarrierPath
	}
	return Workload{
		Name:  "threshold-barrier",
		Impl:  impl,
		About: claims.About,
		Play: func(p *Player, s Script) {
			tp := thresholdPlayer{p, open(p.Conn()), s.Clients}
			for round := range 2 * s.Rounds {
				tp.turn(round)
			}
		},
		Length: func(s Script) time.Duration {
			return time.Duration(2*s.Rounds) * (2*enterPatience + longHold)
		},
		Judge: func(e Evidence) (linearizability.Report, error) {
			if err := elsewhere(e, ops.Set, claims.Path, "BarrierClaims.Path"); err != nil {
				return linearizability.Report{}, err
			}
			opts := linearizability.ThresholdBarrier{
				Path: claims.Path, Patience: enterPatience / 2, AllowedAtRest: claims.LeavesAtRest,
			}
			return linearizability.Judge(e.History, e.Rest, opts), nil
		},
	}
}

// TestThresholdBarrier is [Run] of a threshold barrier at /thresholds/t, unless it
// claims another path.
func TestThresholdBarrier(t TB, open func(*zk.Conn) ThresholdBarrierer, claims ...BarrierClaims) {
	t.Helper()
	Run(t, ThresholdBarrierWorkload(t.Name(), only(t, claims), open))
}

type thresholdPlayer struct {
	*Player
	barrier ThresholdBarrierer
	clients int
}

// turn sets the barrier, now and then, waits and stays for a while.
func (p thresholdPlayer) turn(round int) {
	switch {
	case round == 0 && p.Index() == 0:
		p.set(round, p.clients)
	case round > 0 && p.Choose(3, round+4000) == 0:
		p.set(round, 1+p.Choose(p.clients, round+5000))
	}
	passed := p.Do(ops.Wait, "", func(ctx context.Context) (linearizability.Result, error) {
		ctx, cancel := p.Hasty(ctx, 6, round+2000, time.Millisecond, 50*time.Millisecond)
		defer cancel()
		ctx, cancel = p.Within(ctx, enterPatience)
		defer cancel()
		return linearizability.Result{}, p.barrier.Wait(ctx)
	})
	if passed == nil {
		p.Hold(round, nil)
	}
}

// set sets the barrier until that succeeds, now and then with a short patience at
// first.
func (p thresholdPlayer) set(round, members int) {
	p.Persist(func(attempt int) error {
		return p.Do(ops.Set, strconv.Itoa(members), func(ctx context.Context) (linearizability.Result, error) {
			if attempt == 0 {
				var cancel context.CancelFunc
				ctx, cancel = p.Hasty(ctx, 6, round+6000, time.Millisecond, 50*time.Millisecond)
				defer cancel()
			}
			return linearizability.Result{}, p.barrier.Set(ctx, members)
		})
	})
}

// thresholdBarrierPath is the znode that the workloads of threshold barriers use.
const thresholdBarrierPath = "/thresholds/t"

func thresholdBarrier() Workload {
	return ThresholdBarrierWorkload("recipes.ThresholdBarrier", BarrierClaims{
		About: "the threshold barrier of package recipes",
	}, func(c *zk.Conn) ThresholdBarrierer {
		return recipes.NewThresholdBarrier(c, thresholdBarrierPath, recipes.RecheckEvery(barrierRecheck))
	})
}
