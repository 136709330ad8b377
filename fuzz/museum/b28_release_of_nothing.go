package museum

import (
	"context"
	"errors"

	"github.com/zksim/zksim/fuzz/object"
)

func releaseOfNothing() Exhibit {
	return Exhibit{
		ID: "B28", Title: "a mutex is released that was never acquired",
		Report: "https://github.com/apache/curator/pull/159",
		Bug: "The semaphore takes its inner mutex and releases it in the end, come what may. If the mutex could not be had, " +
			"the release throws, and the reason is lost.",
		Property: "panic",
		Wrong:    beside(object.Semaphore(func(env object.Env) object.Acquirer { return guarded{leases{conn: env.Conn, dir: leasesDir}} }, object.SemaphoreClaims{LockClaims: claims, Leases: 2, Nodes: leasesDir}).Named(""), mutexDir, leasesDir),
		Right:    semaphoreOf(nil),
	}
}

// guarded is a semaphore whose waiters take turns by a mutex.
type guarded struct{ leases }

func (s guarded) Acquire(ctx context.Context) (taken object.Lease, err error) {
	mutex := strict{newNaked(s.conn, mutexDir)}
	defer func() { err = errors.Join(err, mutex.release()) }() // wrong: before it is acquired
	if err = mutex.Lock(ctx); err != nil {
		return nil, err
	}
	return s.leases.Acquire(ctx)
}

// strict is a mutex that panics when somebody releases it who does not own it.
type strict struct{ *naked }

func (m strict) release() error {
	if m.own == "" {
		panic("you do not own the mutex")
	}
	return m.leave()
}
