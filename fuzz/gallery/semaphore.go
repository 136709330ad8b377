package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var publishedSemaphore = []Exhibit{
	{Slug: "error-leaks-lease", Alias: "B25",
		Title:  "a lease is lost between its create and the list",
		Source: Report, Link: "https://github.com/apache/curator/pull/155",
		See: []string{"CURATOR-315"},
		Bug: "The node of the lease is made, and the connection breaks while the children are " +
			"counted. The caller gets an error instead of a lease, so it cannot give the lease " +
			"back: in the end there are no leases.",
		Property: liveness, Wrong: semaphoreOf(leavesNodeOnError)},
	{Slug: "interrupted-lease", Alias: "B26", Title: "interrupted while it waits for a lease",
		Source: Report, Link: "https://github.com/apache/curator/issues/982",
		Bug: "The thread is interrupted in its wait. The exception leaves without a deletion of " +
			"the node. When its turn comes, the node becomes a lease without a holder.",
		Property: liveness, Wrong: semaphoreOf(func(l *plainLock) {
			l.giveUp = func(ctx context.Context) error { return ctx.Err() } // wrong: the node stays
		})},
	{Slug: "release-without-acquire", Alias: "B28",
		Title:  "a mutex is released that was never acquired",
		Source: Report, Link: "https://github.com/apache/curator/pull/159",
		Bug: "The inner mutex is released at the end of an acquire, even if it could not be had. " +
			"The release throws, and the reason of the failure is lost.",
		Property: "panic", Wrong: beside(object.Semaphore(func(env object.Env) object.Acquirer {
			return guarded{leases{conn: env.Conn, dir: leasesDir}}
		}, object.SemaphoreClaims{LockClaims: claims, Leases: 2, Nodes: leasesDir}), mutexDir,
			leasesDir)},
}

// leases is a semaphore made of plain locks with two places. Each lease has a node.
type leases struct {
	conn  *zk.Conn
	dir   string
	steps []func(*plainLock)
}

func (s leases) Acquire(ctx context.Context) (object.Lease, error) {
	l := newLock(s.conn, s.dir)
	l.places, l.await = 2, l.awaitAnother
	with(l, s.steps)
	if err := l.Lock(ctx); err != nil {
		return nil, err
	}
	return lease{l}, nil
}

type lease struct{ *plainLock }

func (l lease) Release(ctx context.Context) error { return l.Unlock(ctx) }

// awaitAnother waits until the list of nodes changes, if there is still no free place. Any node
// that goes may free one.
func (l *plainLock) awaitAnother(ctx context.Context, ahead string) bool {
	names, _, changed, err := l.conn.ChildrenW(l.dir)
	if err == nil && slices.Contains(names, ahead) && slices.Contains(names, l.own) &&
		slices.Index(l.sorted(names), l.own) >= l.places {
		await(ctx, changed)
	}
	return false
}

// semaphoreOf is a workload of a semaphore of two leases at /lock with some steps replaced.
func semaphoreOf(steps ...func(*plainLock)) scenario.Workload {
	return openSemaphore(func(l leases) object.Acquirer { return l }, steps...)
}

// openSemaphore is a workload of any semaphore that is made of leases.
func openSemaphore(
	open func(leases) object.Acquirer, steps ...func(*plainLock),
) scenario.Workload {
	return beside(object.Semaphore(func(env object.Env) object.Acquirer {
		return open(leases{env.Conn, lockDir, steps})
	}, object.SemaphoreClaims{LockClaims: claims, Leases: 2}), lockDir)
}

// guarded is a semaphore with a mutex around its waiters.
type guarded struct{ leases }

func (s guarded) Acquire(ctx context.Context) (taken object.Lease, err error) {
	mutex := strict{newLock(s.conn, mutexDir)}
	defer func() { err = errors.Join(err, mutex.release()) }() // wrong: before it is acquired
	if err = mutex.Lock(ctx); err != nil {
		return nil, err
	}
	return s.leases.Acquire(ctx)
}

// strict is a mutex that panics at a release without an owner.
type strict struct{ *plainLock }

func (m strict) release() error {
	if m.own == "" {
		panic("you do not own the mutex")
	}
	return m.leave()
}

var plantedSemaphores = []Exhibit{
	planted("counts before it creates", safety, semaphoreOf(countsFirst)),
	planted("lets one more in", safety, semaphoreOf(func(l *plainLock) { l.places++ })),
	planted("takes a failed delete for a release", orphans, semaphoreOf(leavesCarelessly)),
	planted("takes several leases one by one", liveness,
		openSemaphore(func(l leases) object.Acquirer { return oneByOne{l} })),
}

// countsFirst looks for a free lease, and then takes one.
func countsFirst(l *plainLock) {
	join := l.join
	l.join = nothing
	l.ahead = func(queue []string) (string, error) {
		if len(queue) >= l.places {
			return queue[0], nil
		}
		return "", errors.Join(join(), l.confirm()) // wrong: others may have joined
	}
	l.await = func(ctx context.Context, _ string) bool {
		names, _, change, err := l.conn.ChildrenW(l.dir)
		if err == nil && len(names) >= l.places {
			await(ctx, change)
		}
		return false
	}
}

// oneByOne gets several leases by as many calls, which do not exclude other clients.
type oneByOne struct{ leases }

func (s oneByOne) AcquireN(ctx context.Context, n int) (all []object.Lease, err error) {
	for range n {
		one, err := s.Acquire(ctx)
		if err != nil {
			for _, l := range all {
				err = errors.Join(err, l.Release(ctx))
			}
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
