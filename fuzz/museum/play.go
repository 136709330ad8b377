package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

// tokenLock is a lock that tells its fencing token.
type tokenLock interface {
	fuzz.Locker
	Token() int64
}

// playRound locks, holds and unlocks; mode is that of a read-write lock.
func playRound(p *fuzz.Player, l tokenLock, mode string, round int) {
	locked := p.Persist(func(int) error {
		return p.Do(linearizability.KindLock, mode, func(ctx context.Context) (linearizability.Result, error) {
			err := l.Lock(ctx)
			return linearizability.Result{Token: l.Token()}, err
		})
	})
	if !locked {
		return
	}
	p.Hold(round, nil)
	p.Attempt(3, func(int) error {
		return p.Do(linearizability.KindUnlock, mode, func(ctx context.Context) (linearizability.Result, error) {
			return linearizability.Result{}, l.Unlock(ctx)
		})
	})
}
