package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// tokenLock is a lock that tells its fencing token.
type tokenLock interface {
	object.Locker
	Token() int64
}

// playRound locks, holds and unlocks; mode is that of a read-write lock.
func playRound(p *scenario.Player, l tokenLock, mode string, round int) {
	if p.Persist(func(int) error { return playLock(p, l, mode) }) {
		p.Hold(scenario.At("hold", round), nil)
		playUnlock(p, l, mode)
	}
}

// playLock locks, once.
func playLock(p *scenario.Player, l tokenLock, mode string) error {
	return p.Do(ops.Lock, mode, func(ctx context.Context) (linearizability.Result, error) {
		err := l.Lock(ctx)
		return linearizability.Result{Token: l.Token()}, err
	})
}

// playUnlock unlocks, as a careful caller does.
func playUnlock(p *scenario.Player, l tokenLock, mode string) {
	p.Attempt(3, func(int) error {
		return p.Do(ops.Unlock, mode, func(ctx context.Context) (linearizability.Result, error) {
			return linearizability.Result{}, l.Unlock(ctx)
		})
	})
}

// builtIn is a workload of package recipes, which is right. It panics if there is none of
// that name.
func builtIn(kind, impl string) scenario.Workload {
	w, err := object.Find(kind, impl)
	if err != nil {
		panic(err)
	}
	return w
}
