package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedSemaphore = []Exhibit{
	{
		Slug: "error-leaks-lease", Alias: "B25",
		Title:  "a lease is lost between its create and the list",
		Source: Report, Link: "https://github.com/apache/curator/pull/155",
		See: []string{"CURATOR-315"},
		Bug: "The node of the lease is made, and the connection breaks while the children are " +
			"counted. The caller gets an error instead of a lease, so nobody can give back what " +
			"is taken: in the end there are no leases.",
		Property: linearizability.Liveness,
		Wrong:    openSemaphore(func(env object.Env) object.Acquirer { return leakyLeases{env.Conn} }),
	},
	{
		Slug: "interrupted-lease", Alias: "B26",
		Title:  "interrupted while it waits for a lease",
		Source: Report, Link: "https://github.com/apache/curator/issues/982",
		Bug: "The thread is interrupted in its wait. The exception leaves by a way on which nobody " +
			"deletes the node, which becomes a lease that nobody holds when its turn comes.",
		Property: linearizability.Liveness,
		Wrong: semaphoreOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error { return ctx.Err() } // wrong: the node stays
		}),
	},
	{
		Slug: "release-without-acquire", Alias: "B28",
		Title:  "a mutex is released that was never acquired",
		Source: Report, Link: "https://github.com/apache/curator/pull/159",
		Bug: "The inner mutex is released at the end of an acquire, even if it could not be had. " +
			"The release throws, and the reason of the failure is lost.",
		Property: "panic",
		Wrong:    beside(object.Semaphore(func(env object.Env) object.Acquirer { return guarded{leases{conn: env.Conn, dir: leasesDir}} }, object.SemaphoreClaims{LockClaims: claims, Leases: 2, Nodes: leasesDir}).Named(""), mutexDir, leasesDir),
	},
}

// leases is a naked lock with two places as a semaphore; each lease has a node.
type leases struct {
	conn    *zk.Conn
	dir     string
	replace func(*naked) // nil: nothing
}

func (s leases) Acquire(ctx context.Context) (object.Lease, error) {
	l := newNaked(s.conn, s.dir)
	l.places = 2
	l.await = l.awaitAnother
	if s.replace != nil {
		s.replace(l)
	}
	if err := l.Lock(ctx); err != nil {
		return nil, err
	}
	return lease{l}, nil
}

type lease struct{ *naked }

func (l lease) Release(ctx context.Context) error { return l.Unlock(ctx) }

// awaitAnother waits until there are other nodes than those among which there was no
// free place: any that goes may free one.
func (l *naked) awaitAnother(ctx context.Context, ahead string) {
	names, _, changed, err := l.conn.ChildrenW(l.dir)
	if err != nil || !slices.Contains(names, ahead) || !slices.Contains(names, l.own) || slices.Index(l.sorted(names), l.own) < l.places {
		return
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// semaphoreOf is a workload of a naked semaphore with some steps replaced.
func semaphoreOf(replace func(*naked)) scenario.Workload {
	return openSemaphore(func(env object.Env) object.Acquirer { return leases{env.Conn, lockDir, replace} })
}

// openSemaphore is a workload of any semaphore of two leases at /lock.
func openSemaphore(open func(object.Env) object.Acquirer) scenario.Workload {
	return beside(object.Semaphore(open, object.SemaphoreClaims{LockClaims: claims, Leases: 2}).Named(""), lockDir)
}

type leakyLeases struct{ conn *zk.Conn }

func (s leakyLeases) Acquire(ctx context.Context) (object.Lease, error) {
	l := newNaked(s.conn, lockDir)
	l.places = 2
	if err := l.join(); err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		if err != nil {
			return nil, err // wrong: the node stays
		}
		if ahead == "" {
			return lease{l}, nil
		}
		l.awaitAnother(ctx, ahead)
	}
	return nil, l.giveUp(ctx)
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

var plantedSemaphores = []Exhibit{
	{
		Title: "counts before it creates", Property: linearizability.Safety,
		Wrong: semaphoreOf(countsFirst),
	},
	{
		Title: "lets one more in", Property: linearizability.Safety,
		Wrong: semaphoreOf(func(l *naked) { l.places++ }),
	},
	{
		Title: "takes a failed delete for a release", Property: linearizability.Orphans,
		Wrong: semaphoreOf(leavesCarelessly),
	},
	{
		Title: "takes several leases one by one", Property: linearizability.Liveness,
		Wrong: openSemaphore(func(env object.Env) object.Acquirer {
			return oneByOne{leases{conn: env.Conn, dir: lockDir}}
		}),
	},
}

// countsFirst looks for a free lease, and then takes one.
func countsFirst(l *naked) {
	l.join = func() error { return nil }
	l.ahead = func(queue []string) (string, error) {
		if len(queue) >= l.places {
			return queue[0], nil
		}
		if err := l.joinOnce(); err != nil {
			return "", err
		}
		return "", l.confirm()
	}
	l.await = func(ctx context.Context, _ string) {
		names, _, change, err := l.conn.ChildrenW(l.dir)
		if err == nil && len(names) >= l.places {
			again(ctx, change)
		}
	}
}

// oneByOne gets several leases by as many calls, between which others come.
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
