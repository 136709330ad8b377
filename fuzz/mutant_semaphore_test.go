package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// mutantSemaphores are deliberately wrong semaphores.
var mutantSemaphores = []struct {
	about    string
	bad      leaseDefects
	property string
}{
	{"counts before it creates", leaseDefects{countFirst: true}, linearizability.Safety},
	{"lets one more in", leaseDefects{oneMore: true}, linearizability.Safety},
	{"leaves the node of a wait that was given up", leaseDefects{leaves: true}, linearizability.Orphans},
	{"takes a failed delete for a release", leaseDefects{deafRelease: true}, linearizability.Orphans},
}

func TestMutantSemaphoresAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutantSemaphores {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantSemaphore(m.bad), m.property) })
	}
}

func mutantSemaphore(bad leaseDefects) scenario.Workload {
	claims := object.SemaphoreClaims{LockClaims: object.LockClaims{Path: "/semaphore"}}
	return object.Semaphore(func(env object.Env) object.Acquirer { return &seqSemaphore{conn: env.Conn, bad: bad} }, claims).Named("mutant")
}

// TestSameSemaphoreWithoutDefectSurvives is the control: it is right as long as
// nothing fails.
func TestSameSemaphoreWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	holdsUndisturbed(t, mutantSemaphore(leaseDefects{}), 50)
}

type leaseDefects struct {
	countFirst  bool // looks for a free lease, and then takes one
	oneMore     bool // has one lease too many
	leaves      bool // a wait that is given up leaves its node
	deafRelease bool // a release ends with its request
}

// seqSemaphore is a small semaphore of two leases.
type seqSemaphore struct {
	conn *zk.Conn
	bad  leaseDefects
}

func (s *seqSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	l := &seqLease{s: s}
	if _, err := s.conn.Create("/semaphore", nil, 0, openACL); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return nil, err
	}
	for !s.bad.countFirst && l.own == "" && ctx.Err() == nil {
		own, err := s.conn.CreateProtectedEphemeralSequential("/semaphore/n-", nil, openACL)
		if err != nil {
			return nil, err
		}
		l.own = own
	}
	for ctx.Err() == nil {
		names, _, changed, err := s.conn.ChildrenW("/semaphore")
		if err != nil {
			return nil, errors.Join(err, l.leave())
		}
		if s.isFree(names, l.own) {
			return l.enter()
		}
		select {
		case ev := <-changed:
			if ev.Err != nil {
				return nil, errors.Join(errNotMine, l.leave())
			}
		case <-ctx.Done():
		}
	}
	if s.bad.leaves {
		return nil, ctx.Err()
	}
	return nil, errors.Join(ctx.Err(), l.leave())
}

// isFree sorts the names and reports whether there is a lease for the own node.
func (s *seqSemaphore) isFree(names []string, own string) bool {
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sequence(a), sequence(b)) })
	at, leases := slices.Index(names, strings.TrimPrefix(own, "/semaphore/")), 2
	if s.bad.oneMore {
		leases = 3
	}
	if s.bad.countFirst {
		return len(names) < leases
	}
	return at >= 0 && at < leases
}

type seqLease struct {
	s     *seqSemaphore
	own   string
	token int64
}

// enter begins to hold the lease.
func (l *seqLease) enter() (object.Lease, error) {
	if l.s.bad.countFirst {
		own, err := l.s.conn.CreateProtectedEphemeralSequential("/semaphore/n-", nil, openACL)
		if err != nil {
			return nil, err
		}
		l.own = own
	}
	_, stat, err := l.s.conn.Get(l.own)
	if err != nil {
		return nil, errors.Join(err, l.leave())
	}
	l.token = stat.Czxid
	return l, nil
}

func (l *seqLease) Token() int64 { return l.token }

func (l *seqLease) Release(context.Context) error { return l.leave() }

func (l *seqLease) leave() (err error) {
	for range attempts {
		err = l.s.conn.Delete(l.own, -1)
		if l.s.bad.deafRelease || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err == nil {
			break
		}
	}
	return err
}

// oneByOne gets several leases by as many calls, between which others come.
type oneByOne struct{ *recipes.Semaphore }

func (s oneByOne) Acquire(ctx context.Context) (object.Lease, error) { return s.Semaphore.Acquire(ctx) }

func (s oneByOne) AcquireN(ctx context.Context, n int) (all []object.Lease, err error) {
	for range n {
		one, err := s.Semaphore.Acquire(ctx)
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

// TestLeasesOneByOneAreFound: two clients with one of two leases each wait for each
// other.
func TestLeasesOneByOneAreFound(t *testing.T) {
	t.Parallel()
	claims := object.SemaphoreClaims{Nodes: "/semaphore/leases", LockClaims: object.LockClaims{
		LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"},
	}}
	findsMutant(t, object.Semaphore(func(env object.Env) object.Acquirer {
		return oneByOne{recipes.NewSemaphore(env.Conn, "/semaphore", 2)}
	}, claims).Named("mutant"), linearizability.Liveness)
}
