package gallery

import (
	"context"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// plantedLocks are locks of which one step is wrong, and locks that are wrong as a whole.
var plantedLocks = []Exhibit{
	{
		Title: "all watch the owner's node", Property: linearizability.Herd,
		Wrong: oneAtATime(awaitsFirst),
	},
	{
		Title: "herds, and claims not to", Property: linearizability.Herd,
		Wrong: object.Lock(func(env object.Env) object.Locker {
			return recipes.NewHerdLock(env.Conn, "/lock/herd")
		}, object.LockClaims{MaxHerd: 1}).Named(""),
	},
	{
		Title: "orders by whole names", Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) { l.order = strings.Compare }),
	},
	{
		Title: "ignores the errors of unlock", Property: linearizability.Liveness,
		Wrong: lockOf(leavesCarelessly),
	},
	{Title: "never looks who is first", Property: linearizability.Safety, Wrong: lockOf(neverLooks)},
	{
		Title: "is everybody's", Property: linearizability.Safety,
		Wrong: object.Lock(func(object.Env) object.Locker { return everybodysLock{} }).Named(""),
	},
	{
		Title: "always says that it is lost", Property: linearizability.Belief,
		Wrong: openLock(func(env object.Env) object.Locker {
			l := silent{newNaked(env.Conn, lockDir), make(chan struct{})}
			close(l.lost)
			return l
		}),
	},
	{
		Title: "takes a place in the queue for the lock", Property: linearizability.Safety,
		Wrong: listeningLock(func(lock *recipes.WriteLock) bool { return true }),
	},
	{
		Title: "is never told that it owns the lock", Property: linearizability.Liveness,
		Wrong: listeningLock(func(lock *recipes.WriteLock) bool { return false }),
	},
}

// everybodysLock is owned by every caller.
type everybodysLock struct{}

func (everybodysLock) Lock(context.Context) error   { return nil }
func (everybodysLock) Unlock(context.Context) error { return nil }

// listeningLock is a workload of WriteLock whose caller asks owned until it is told yes.
func listeningLock(owned func(*recipes.WriteLock) bool) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return writeLock{recipes.NewWriteLock(env.Conn, lockDir, nil), owned}
	}).Named("")
}

type writeLock struct {
	*recipes.WriteLock
	owned func(*recipes.WriteLock) bool
}

func (l writeLock) Lock(ctx context.Context) error {
	owned, err := l.WriteLock.Lock(ctx)
	for err == nil && !owned && !l.owned(l.WriteLock) {
		awaitChange(ctx, after(100*time.Millisecond))
		err = ctx.Err()
	}
	return err
}

// Wrong steps that locks, elections and turn queues have in common.

// createsAgain repeats a create whose reply was lost.
func createsAgain(l *naked) { l.find = func() (bool, error) { return false, nil } }

// ownsAnyNode owns through a node of a session that has ended.
func ownsAnyNode(l *naked) { l.confirm = func() error { return nil } }

// neverLooks takes a successful create for the lock.
func neverLooks(l *naked) {
	l.ahead = func([]string) (string, error) { return "", nil }
}

// awaitsFirst waits for the owner instead of the predecessor.
func awaitsFirst(l *naked) {
	l.ahead = func(queue []string) (string, error) {
		ahead, err := l.predecessor(queue)
		if ahead != "" {
			ahead = queue[0]
		}
		return ahead, err
	}
}

// ownsWhenWoken does not look again when the node ahead has changed.
func ownsWhenWoken(l *naked) {
	woken, ahead := false, l.ahead
	l.await = func(ctx context.Context, name string) {
		l.awaitDeletion(ctx, name)
		woken = ctx.Err() == nil
	}
	l.ahead = func(queue []string) (string, error) {
		if !woken {
			return ahead(queue)
		}
		woken = false
		return "", l.confirm()
	}
}

// leavesCarelessly takes a failed delete for a release.
func leavesCarelessly(l *naked) {
	l.leave = func() error {
		if l.own != "" {
			_ = l.conn.Delete(l.path(l.own), -1)
			l.own = ""
		}
		return nil
	}
}
