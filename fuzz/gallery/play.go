package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// playing is a workload with another script: each client calls play once for each round.
func playing(w scenario.Workload, play func(p *scenario.Player, round int)) scenario.Workload {
	w.Handles = false
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range p.Rounds(s.Rounds) {
			play(p, round)
		}
	}
	return w
}

// do records a call without a result.
func do(p *scenario.Player, kind, input string, call func(context.Context) error) error {
	return p.Do(kind, input, func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, call(ctx)
	})
}

// tokenLock is a lock with a fencing token.
type tokenLock interface {
	object.Locker
	Token() int64
}

// playRound locks, holds and unlocks in a mode of a read-write lock, "" for other locks.
func playRound(p *scenario.Player, l tokenLock, mode string, round int) {
	if playLock(p, l, ops.Lock, mode) {
		p.Hold(scenario.At("hold", round), nil)
		playUnlock(p, l, ops.Unlock, mode)
	}
}

// playLock tries to lock until it succeeds or the World ends.
func playLock(p *scenario.Player, l tokenLock, kind, input string) bool {
	return p.Persist(func(int) error { return lockOnce(p.Context(), p, l, kind, input) })
}

func lockOnce(ctx context.Context, p *scenario.Player, l tokenLock, kind, input string) error {
	return p.Do(kind, input, func(context.Context) (linearizability.Result, error) {
		err := l.Lock(ctx)
		return linearizability.Result{Token: l.Token()}, err
	})
}

// playUnlock tries three times to unlock, as a careful caller does.
func playUnlock(p *scenario.Player, l tokenLock, kind, input string) {
	p.Attempt(3, func(int) error { return do(p, kind, input, l.Unlock) })
}

// builtIn is a workload of package recipes, which is right. It panics if there is none of the name.
func builtIn(kind, impl string) scenario.Workload {
	w, err := builtin.Find(kind, impl)
	if err != nil {
		panic(err)
	}
	return w
}
