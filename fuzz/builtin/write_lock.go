package builtin

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// writeLock is the lock of the Apache recipes, with a Lock that waits.
func writeLock() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		l := &awaitedLock{notified: make(chan struct{}, 1), closed: make(chan struct{})}
		l.WriteLock = classic.NewWriteLock(env.InTurn(), env.Path, l)
		return l
	}, object.LockClaims{
		About: "the lock with a listener of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.WriteLock")
}

// awaitedLock waits for the notifications of a WriteLock to its listener.
type awaitedLock struct {
	*classic.WriteLock
	notified chan struct{}
	closed   chan struct{}
}

func (l *awaitedLock) LockAcquired() {
	select {
	case l.notified <- struct{}{}:
	default: // there is news already
	}
}

func (l *awaitedLock) LockReleased() {}

// Lock calls Lock again after each notification: the lock may be lost again by then.
func (l *awaitedLock) Lock(ctx context.Context) error {
	for {
		owned, err := l.WriteLock.Lock(ctx)
		if owned || err != nil {
			return err
		}
		select {
		case <-l.notified:
		case <-l.closed:
			return recipes.ErrClosed
		case <-ctx.Done():
			if err := l.Unlock(ctx); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
	}
}

// Close also ends the calls that wait for a notification.
func (l *awaitedLock) Close(ctx context.Context) error {
	close(l.closed)
	return l.WriteLock.Close(ctx)
}
