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
	// Path is the znode that is the barrier while it exists; "" means /barriers/b.
	Path string
	// AllPass says that all waiters pass at a removal, even if the barrier is set again at once.
	// Only [Barrier] heeds it.
	AllPass bool
	// StaleReads is about IsSet, and what Wait, Set and Remove find: a waiter may pass although
	// another client has set the barrier. See Claims in the package comment.
	StaleReads bool
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
}

// Barrier makes a workload of a barrier. Each client calls open once. In each turn it waits at the
// barrier, or sets the barrier, holds it for a while and removes it. Now and then it removes it and
// sets it again at once, before it removes it for good.
func Barrier(open func(Env) Barrierer, given ...BarrierClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/barriers/b")
	return judgedAt(scenario.Workload{
		Name:  "barrier",
		Main:  []string{ops.Set, ops.Wait},
		About: claims.About,
		Play: inRounds(open, claims.Path, 2,
			func(p *scenario.Player, h *scenario.Handle[Barrierer]) (turn, end func(int)) {
				b := barrierPlayer{p, h.Now}
				return b.turn, b.end
			}),
		Shared: true,
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(2*s.Clients*s.Rounds) * (scenario.LongHold + time.Second)
		},
	}, claims.Path, ops.Set, func(e scenario.Evidence) linearizability.Claims {
		b := barrier.Claims{Path: claims.Path, AllowedAtRest: claims.LeavesAtRest,
			StaleReads: claims.StaleReads, Patience: patience(e.Plan)}
		switch {
		case claims.AllPass && len(e.Plan) == 0:
			b.AllPass = passingTime + e.Lag
		case claims.AllPass:
			b.AllPass = patience(e.Plan)
		}
		return b
	})
}

// passingTime is more than enough to look at a barrier in a run without faults.
const passingTime = 100 * time.Millisecond

type barrierPlayer struct {
	client  *scenario.Player
	barrier func() Barrierer
}

// turn sets and removes the barrier, or waits at it, or does nothing. Then it asks for the state of
// the barrier.
func (p barrierPlayer) turn(round int) {
	switch p.client.Choose(scenario.At("kind", round), 5) {
	case 0, 1:
		p.retry(ops.Set, scenario.At(ops.Set, round), Barrierer.Set)
		if p.client.Choose(scenario.At("anew", round), 3) == 0 {
			p.client.Pause(5 * passingTime)
			p.retry(ops.Remove, scenario.At("remove first", round), Barrierer.Remove)
			p.retry(ops.Set, scenario.At("set again", round), Barrierer.Set)
			p.client.Pause(5 * passingTime)
		}
		p.client.Hold(scenario.At("hold", round), nil)
		p.retry(ops.Remove, scenario.At(ops.Remove, round), Barrierer.Remove)
	case 2, 3:
		p.waitInVain(round)
		p.retry(ops.Wait, scenario.At(ops.Wait, round), Barrierer.Wait)
	}
	_ = p.look()
}

// shortWaits is how many waits in vain a client begins in a row.
const shortWaits = 8

// waitInVain waits in one turn of eight for short times, one after the other, until it passes.
func (p barrierPlayer) waitInVain(round int) {
	if p.client.Choose(scenario.At("waits in vain", round), 8) > 0 {
		return
	}
	for n, failed := 0, true; failed && n < shortWaits; n++ {
		failed = p.client.Call(ops.Wait, "", func(ctx context.Context) error {
			ctx, cancel := p.client.Within(ctx, 50*time.Millisecond)
			defer cancel()
			return p.barrier().Wait(ctx)
		}) != nil
	}
}

// retry calls an operation until it succeeds. The first attempt has a short context in some rounds.
// The label is that of its draws.
func (p barrierPlayer) retry(kind, label string, do func(Barrierer, context.Context) error) {
	p.client.Persist(func(attempt int) error {
		return p.client.Call(kind, "", func(ctx context.Context) error {
			ctx, cancel := p.client.Hasty(ctx, attempt, label, 6, time.Millisecond,
				50*time.Millisecond)
			defer cancel()
			return do(p.barrier(), ctx)
		})
	})
}

// end asks again if that has failed.
func (p barrierPlayer) end(first int) {
	p.client.Insist(ops.IsSet, first, func(int) error { return p.look() })
}

// look asks whether the barrier is set, if the object has IsSet.
func (p barrierPlayer) look() error {
	looker, ok := p.barrier().(interface {
		IsSet(ctx context.Context) (bool, error)
	})
	if !ok || p.client.Context().Err() != nil {
		return nil
	}
	p.client.Optional("IsSet", true)
	call := p.client.Begin(ops.IsSet, "")
	up, err := looker.IsSet(p.client.Context())
	if err != nil {
		call.Failed(err)
		return err
	}
	call.OK(linearizability.Result{Output: strconv.FormatBool(up)})
	return nil
}
