package museum

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

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
