package object

import (
	"context"
	"strconv"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// Barrierer is a barrier under test. An IsSet(ctx) (bool, error) method is optional and tested,
// too.
type Barrierer interface {
	Set(ctx context.Context) error
	Remove(ctx context.Context) error
	Wait(ctx context.Context) error
}

// BarrierClaims are the promises of a barrier.
type BarrierClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the znode whose existence is the barrier; "" means /barriers/b.
	Path string
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
}

// Barrier makes a workload of a barrier. Each client calls open once. In each turn it waits at the
// barrier, or sets the barrier, holds it for a while and removes it.
func Barrier(open func(Env) Barrierer, given ...BarrierClaims) scenario.Workload {
	claims := only(given)
	if claims.Path == "" {
		claims.Path = barrierPath
	}
	return scenario.Workload{
		Name:  "barrier",
		About: claims.About,
		Play: scenario.Shared(opener(open, claims.Path),
			func(p *scenario.Player, s scenario.Script, h *scenario.Handle[Barrierer]) {
				bp := barrierPlayer{p, h.Now}
				for round := range 2 * s.Rounds {
					bp.turn(round)
				}
			}),
		Shared: true,
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(2*s.Clients*s.Rounds) * (scenario.LongHold + time.Second)
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			if err := elsewhere(e, ops.Set, claims.Path, "BarrierClaims.Path"); err != nil {
				return linearizability.Report{}, err
			}
			opts := linearizability.Barrier{Path: claims.Path, AllowedAtRest: claims.LeavesAtRest,
				Patience: patience(e.Plan)}
			return linearizability.Judge(e.History, e.Rest, opts), nil
		},
	}
}

type barrierPlayer struct {
	*scenario.Player
	barrier func() Barrierer
}

// turn sets and removes the barrier, waits at it, or neither, and then asks for its state.
func (p barrierPlayer) turn(round int) {
	switch p.Choose(scenario.At("kind", round), 5) {
	case 0, 1:
		p.persist(ops.Set, round, Barrierer.Set)
		p.Hold(scenario.At("hold", round), nil)
		p.persist(ops.Remove, round, Barrierer.Remove)
	case 2, 3:
		p.persist(ops.Wait, round, Barrierer.Wait)
	}
	p.look()
}

// persist calls an operation until it succeeds. The first attempt has a short context in some
// rounds.
func (p barrierPlayer) persist(kind string, round int, do func(Barrierer, context.Context) error) {
	p.Persist(func(attempt int) error {
		return p.Do(kind, "", func(ctx context.Context) (linearizability.Result, error) {
			if attempt == 0 {
				var cancel context.CancelFunc
				ctx, cancel = p.Hasty(ctx, scenario.At(kind, round), 6, time.Millisecond,
					50*time.Millisecond)
				defer cancel()
			}
			return linearizability.Result{}, do(p.barrier(), ctx)
		})
	})
}

// look asks whether the barrier is set, if the object has IsSet.
func (p barrierPlayer) look() {
	looker, ok := p.barrier().(interface {
		IsSet(ctx context.Context) (bool, error)
	})
	if !ok || p.Context().Err() != nil {
		return
	}
	call := p.Begin(ops.IsSet, "")
	up, err := looker.IsSet(p.Context())
	if err != nil {
		call.Failed(err)
		return
	}
	call.OK(linearizability.Result{Output: strconv.FormatBool(up)})
}

// barrierPath is the znode that the workloads of barriers use.
const barrierPath = "/barriers/b"

func fixedBarrier() scenario.Workload {
	return Barrier(func(env Env) Barrierer {
		return recipes.NewBarrier(env.InTurn(), env.Path)
	}, BarrierClaims{
		About: "the barrier of package recipes",
	}).Named("recipes.Barrier")
}
