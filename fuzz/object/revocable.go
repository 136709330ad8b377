package object

import (
	"cmp"
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// RevocableLocker is a lock under test with a request to its owner to release it. Revoke asks the
// present owner, by a change of the data of its znode. The channel of Revoked is closed when the
// owner of the present hold was asked.
type RevocableLocker interface {
	Locker
	Revoke(ctx context.Context) (bool, error)
	Revoked() <-chan struct{}
}

// Revocable makes a workload of a revocable lock. Each client calls open once. In each round it
// waits a while for the lock and asks the owner. It holds the lock for a short time or, in half of
// the rounds, until it is asked itself.
func Revocable(open func(Env) RevocableLocker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/revocable")
	return claims.judged(scenario.Workload{
		Name:  "revocable",
		About: claims.About,
		Play: inRounds(open, claims.Path, 1,
			func(p *scenario.Player, h *scenario.Handle[RevocableLocker]) (turn, end func(int)) {
				return revocablePlayer{singleMode(p, h), h.Now}.turn, nil
			}),
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(s.Clients*s.Rounds)*(enough+time.Second) + claims.lifetimes(s)
		},
	}, ops.Lock, func(l lock.Claims) linearizability.Claims {
		return lock.Revocable{Claims: l, Within: heardWithin}
	})
}

const (
	// enough is how long an owner waits to be asked.
	enough = 2 * time.Minute
	// heardWithin is how long a request may take to reach the owner: more than all faults of a plan
	// together.
	heardWithin = 90 * time.Second
)

type revocablePlayer struct {
	lockMode
	lock func() RevocableLocker
}

// turn takes the lock, asks its owner for it if need be, holds it and releases it.
func (p revocablePlayer) turn(round int) {
	patience := time.Millisecond *
		time.Duration(20+p.client.Choose(scenario.At("patience", round), 2000))
	locked := p.client.Persist(func(attempt int) error {
		if attempt > 0 {
			if err := p.ask(); err != nil {
				return err
			}
		}
		longer := min(max(attempt-5, 0), 8) // doublings, for an object that is slow
		ctx, cancel := p.client.Within(p.client.Context(), patience<<longer)
		defer cancel()
		return p.acquire(ctx)
	})
	if !locked {
		return
	}
	if p.client.Choose(scenario.At("until asked", round), 2) == 0 {
		p.hold(scenario.At("hold", round))
	} else {
		stop := p.watchLoss()
		p.await()
		p.client.Pause(time.Millisecond) // a loss that ended the wait is noted by then
		p.client.AtCall(stop)
	}
	p.release(scenario.At("unlock", round))
}

// ask asks the owner, if there is one, to release the lock.
func (p revocablePlayer) ask() error {
	return p.client.Do("revoke", "", func(ctx context.Context) (r linearizability.Result, err error) {
		asked, err := p.lock().Revoke(ctx)
		r.Empty = !asked
		return r, err
	})
}

// await holds the lock until another client asks for it, the lock is lost, or the patience has
// ended.
func (p revocablePlayer) await() {
	c := p.client.Begin(ops.Hold, "")
	lost := p.signal()
	revoked := p.lock().Revoked()
	over, cancel := p.client.Within(p.client.Context(), enough)
	defer cancel()
	end := ops.Revoked
	select {
	case <-revoked:
	case <-lost:
	case <-over.Done():
		if p.client.Context().Err() != nil {
			return
		}
		end = ops.Over
	}
	select {
	case <-lost: // a loss counts more than a request
		end = ops.Lost
	default:
	}
	c.OK(linearizability.Result{Output: end})
}
