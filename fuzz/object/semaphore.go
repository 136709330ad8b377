package object

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// Acquirer is a semaphore under test, with a number of leases. Acquire returns a lease that is held
// until Release. Optional and tested, too, are AcquireN(ctx, n) ([]Lease, error), which returns n
// leases at once, or none, and TryAcquire(ctx) (Lease, bool, error), which does not wait.
type Acquirer interface {
	Acquire(ctx context.Context) (Lease, error)
}

// Lease is a lease of an Acquirer. Token is the czxid of its znode, or 0. With 0 the judge knows
// the znode only while the client has no other. Lost() <-chan struct{} is optional and tested, too:
// it is the signal to a holder that it does not have the lease any more.
type Lease interface {
	Token() int64
	Release(ctx context.Context) error
}

// leaseTrier is an Acquirer with a call that does not wait; ok is false if no lease is free.
type leaseTrier interface {
	TryAcquire(ctx context.Context) (lease Lease, ok bool, err error)
}

// SemaphoreClaims are the promises of a semaphore.
type SemaphoreClaims struct {
	// LockClaims are the claims of a lock. Fair says that the oldest znodes get the leases. Path is
	// the directory of all znodes; "" means /semaphore.
	LockClaims
	// Leases is the number of leases; below 1 means 2.
	Leases int
	// Nodes is the directory of the znodes of leases, if there are other znodes under Path; ""
	// means Path.
	Nodes string
}

// Semaphore makes a workload of a semaphore. Each client calls open once and holds a lease round
// after round, now and then two: one after the other or, with AcquireN, both at once.
func Semaphore(open func(Env) Acquirer, given ...SemaphoreClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/semaphore")
	if claims.Leases < 1 {
		claims.Leases = 2
	}
	return claims.judged(scenario.Workload{
		Name:  "semaphore",
		About: claims.About,
		Play: inRounds(open, claims.Path, 1,
			func(p *scenario.Player, h *scenario.Handle[Acquirer]) (turn, end func(int)) {
				return semaphorePlayer{p, h.Now, claims.Leases}.turn, nil
			}),
		Shared: true,
		Length: claims.length,
	}, ops.Acquire, func(l lock.Claims) linearizability.Claims {
		l.Nodes = claims.Nodes
		return lock.Semaphore{Leases: claims.Leases, Claims: l}
	})
}

type semaphorePlayer struct {
	client *scenario.Player
	sem    func() Acquirer
	leases int
}

// turn holds a lease. Now and then it takes a second one, if there is more than one lease:
// otherwise it would wait for itself.
func (p semaphorePlayer) turn(round int) {
	if s, ok := p.sem().(multiSemaphore); ok && p.leases > 1 &&
		sometimes(p.client, "AcquireN", scenario.At("both", round), 3) {
		p.both(round, s)
		return
	}
	first := p.own("one")
	one, ok := p.acquire(round, first)
	if !ok {
		return
	}
	stop := p.watchLoss(one)
	if p.leases > 1 && p.client.Choose(scenario.At("second", round), 4) == 0 {
		p.holdSecond(round)
	}
	stop()
	p.client.AtCall(p.watchLoss(one))
	p.client.Hold(scenario.At("hold", round), nil)
	useTokenLate(p.client, round, first, one.Token)
	p.release(scenario.At("release", round), one, first)
}

// own is the name of a lease: the same name of another goroutine differs.
func (p semaphorePlayer) own(which string) string {
	if n := p.client.Goroutine(); n > 0 {
		return fmt.Sprintf("%s.%d", which, n+1)
	}
	return which
}

// multiSemaphore is a semaphore that returns several leases at once.
type multiSemaphore interface {
	AcquireN(ctx context.Context, n int) ([]Lease, error)
}

// both holds two leases that it gets at once, or gives up.
func (p semaphorePlayer) both(round int, s multiSemaphore) {
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("acquire both", round), 3,
		10*time.Millisecond, 100*time.Millisecond)
	defer cancel()
	names := []string{p.own("one"), p.own("two")}
	var calls []scenario.Call
	for _, which := range names {
		calls = append(calls, p.client.Begin(ops.Acquire, which))
	}
	held, err := s.AcquireN(ctx, len(names))
	for i, c := range calls {
		if err != nil {
			c.Unknown(linearizability.Result{}, err)
			continue
		}
		c.OK(linearizability.Result{Token: held[i].Token()})
	}
	if err != nil {
		return
	}
	stop, stopFirst := p.watchLoss(held[1]), p.watchLoss(held[0])
	p.client.Hold(scenario.At("hold both", round), nil)
	p.client.AtCall(stopFirst)
	p.release(scenario.At("release both", round, 0), held[0], names[0])
	p.client.AtCall(stop)
	p.release(scenario.At("release both", round, 1), held[1], names[1])
}

// holdSecond holds a second lease for a while, if one is free soon. It does not wait for long: two
// clients with one lease each would wait for each other.
func (p semaphorePlayer) holdSecond(round int) {
	ctx, cancel := p.client.Within(p.client.Context(),
		time.Duration(5+p.client.Choose(scenario.At("second patience", round), 50))*time.Millisecond)
	defer cancel()
	second := p.own("two")
	two, err := p.try(ctx, second)
	if err != nil {
		return
	}
	stop := p.watchLoss(two)
	pause := 1 + p.client.Choose(scenario.At("second hold", round), 10)
	p.client.Pause(time.Duration(pause) * time.Millisecond)
	p.client.AtCall(stop)
	p.release(scenario.At("second release", round), two, second)
}

// acquire tries until it holds a lease or the World ends.
func (p semaphorePlayer) acquire(round int, which string) (lease Lease, ok bool) {
	ok = p.client.Persist(func(attempt int) (err error) {
		label := scenario.At("acquire", round)
		if t, can := p.sem().(leaseTrier); can && attempt == 0 {
			try := func(ctx context.Context) (ok bool, err error) {
				lease, ok, err = t.TryAcquire(ctx)
				return ok, err
			}
			token := func() int64 { return lease.Token() }
			if tried, err := p.client.TryFirst(label, ops.Acquire, which, try, token); tried {
				return err
			}
		}
		ctx, cancel := p.client.Hasty(p.client.Context(), attempt, label, 6, 10*time.Millisecond,
			100*time.Millisecond)
		defer cancel()
		lease, err = p.try(ctx, which)
		return err
	})
	return lease, ok
}

// try calls Acquire once.
func (p semaphorePlayer) try(ctx context.Context, which string) (lease Lease, err error) {
	err = p.client.Do(ops.Acquire, which, func(context.Context) (linearizability.Result, error) {
		lease, err = p.sem().Acquire(ctx)
		if err != nil {
			return linearizability.Result{}, err
		}
		return linearizability.Result{Token: lease.Token()}, nil
	})
	return lease, err
}

func (p semaphorePlayer) release(label string, lease Lease, which string) {
	p.client.GiveBack(label, func(ctx context.Context) error {
		return p.client.Call(ops.Release, which, func(context.Context) error {
			return lease.Release(ctx)
		})
	})
}

// watchLoss records a loss of the lease until stop is called.
func (p semaphorePlayer) watchLoss(lease Lease) (stop func()) {
	return p.client.Heed(lease.Token(), lostOf(lease))
}

// lostOf is the lease's signal of loss, or nil.
func lostOf(lease Lease) <-chan struct{} {
	if l, ok := lease.(lossSignaler); ok {
		return l.Lost()
	}
	return nil
}
