package gallery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// plantedLocks are locks with one wrong step, and locks that are wrong as a whole.
var plantedLocks = []Exhibit{
	planted("all watch the owner's node", herd, oneAtATime(awaitsFirst)),
	planted("herds, and claims not to", herd, object.Lock(func(env object.Env) object.Locker {
		return classic.NewHerdLock(env.Conn, "/lock/herd")
	}, object.LockClaims{MaxHerd: 1})),
	planted("orders by whole names", safety, lockOf(func(l *plainLock) {
		l.order = strings.Compare
	})),
	planted("ignores the errors of unlock", liveness, lockOf(leavesCarelessly)),
	planted("never looks who is first", safety, lockOf(neverLooks)),
	planted("is everybody's", safety, object.Lock(func(object.Env) object.Locker {
		return everybodysLock{}
	})),
	planted("always says that it is lost", belief, signalling(true)),
	planted("takes a place in the queue for the lock", safety, listeningLock(true)),
	planted("is never told that it owns the lock", liveness, listeningLock(false)),
}

// everybodysLock is owned by every caller.
type everybodysLock struct{}

func (everybodysLock) Lock(context.Context) error   { return nil }
func (everybodysLock) Unlock(context.Context) error { return nil }

// listeningLock is a workload of WriteLock with a listener that is told always or never that it
// owns the lock.
func listeningLock(always bool) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return writeLock{classic.NewWriteLock(env.Conn, lockDir, nil), always}
	})
}

type writeLock struct {
	*classic.WriteLock
	owned bool
}

func (l writeLock) Lock(ctx context.Context) error {
	owned, err := l.WriteLock.Lock(ctx)
	for err == nil && !owned && !l.owned {
		_, err = await(ctx, after(100*time.Millisecond))
	}
	return err
}

var plantedRevocableLocks = []Exhibit{
	planted("never hears that it was asked", delivery, revocableOf(false)),
	planted("hears it though nobody has asked", delivery, revocableOf(true)),
}

// revocableOf is a workload of a revocable lock that is always asked to give way, or never.
func revocableOf(always bool) scenario.Workload {
	return object.Revocable(func(env object.Env) object.RevocableLocker {
		return revocableLock{recipes.NewRevocableLock(env.Conn, "/revocable"), signal(always)}
	})
}

type revocableLock struct {
	*recipes.RevocableLock
	revoked chan struct{}
}

func (l revocableLock) Revoked() <-chan struct{} { return l.revoked }

var plantedMultiLocks = []Exhibit{
	planted("locks in the order given", liveness, multiLockOf(severalLocks{},
		func(given []string) []string { return given })),
	planted("keeps what it has when it fails", liveness, multiLockOf(
		severalLocks{keeps: true}, sorted)),
	planted("takes the first lock for all", safety, multiLockOf(severalLocks{},
		func(given []string) []string { return given[:1] })),
}

// severalLocks locks one lock after the other.
type severalLocks struct {
	locks []*recipes.Lock
	keeps bool // a failure gives nothing back
}

// multiLockOf is a workload of several locks, locked in the order of paths. In sorted order it is
// right.
func multiLockOf(bad severalLocks, paths func(given []string) []string) scenario.Workload {
	return object.MultiLock(func(env object.Env) object.Locker {
		s := bad
		for _, path := range paths(env.Paths) {
			s.locks = append(s.locks, recipes.NewLock(env.Conn, path))
		}
		return &s
	})
}

func sorted(given []string) []string { return slices.Sorted(slices.Values(given)) }

func (s *severalLocks) Lock(ctx context.Context) error {
	for i, l := range s.locks {
		if s.keeps && l.Token() != 0 && i > 0 {
			return recipes.ErrHeld
		}
		err := l.Lock(ctx)
		if err != nil && !s.keeps {
			err = errors.Join(err, s.Unlock(ctx))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *severalLocks) Unlock(ctx context.Context) (err error) {
	for _, l := range s.locks {
		err = errors.Join(err, l.Unlock(ctx))
	}
	return err
}

// Wrong steps that locks, elections and turn queues have in common.

// createsAgain repeats a create with a lost reply.
func createsAgain(l *plainLock) {
	l.find = func() (bool, error) { return false, nil } // wrong: the node may be there
}

// ownsAnyNode owns through a node of a session that has ended.
func ownsAnyNode(l *plainLock) {
	l.confirm = nothing // wrong: the node may be another session's
}

// neverLooks takes a successful create for the lock.
func neverLooks(l *plainLock) {
	l.ahead = func([]string) (string, error) { return "", nil }
}

// awaitsFirst waits for the owner instead of the predecessor.
func awaitsFirst(l *plainLock) {
	nearest := l.ahead
	l.ahead = func(queue []string) (string, error) {
		ahead, err := nearest(queue)
		if ahead != "" {
			ahead = queue[0]
		}
		return ahead, err
	}
}

// ownsWhenWoken does not look again when the node ahead has changed.
func ownsWhenWoken(l *plainLock) {
	l.await = func(ctx context.Context, name string) bool {
		l.awaitDeletion(ctx, name)
		return ctx.Err() == nil && l.confirm() == nil
	}
}

// leavesCarelessly takes a failed delete for a release.
func leavesCarelessly(l *plainLock) {
	l.leave = func() error {
		if l.own != "" {
			_ = l.conn.Delete(l.path(l.forget()), -1)
		}
		return nil
	}
}
