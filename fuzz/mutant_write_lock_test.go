package fuzz_test

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// TestMutantWriteLocksAreFound: ways to get the listener wrong.
func TestMutantWriteLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		hasty    bool // takes a place in the queue for the lock
		deaf     bool // does not hear the listener
		property string
	}{
		{"takes a place in the queue for the lock", true, false, linearizability.Safety},
		{"is never told that it owns the lock", false, true, linearizability.Liveness},
	} {
		t.Run(m.about, func(t *testing.T) {
			findsMutant(t, object.Lock(func(env object.Env) object.Locker {
				return &hastyWriteLock{recipes.NewWriteLock(env.Conn, "/lock", nil), m.hasty, m.deaf}
			}).Named("mutant"), m.property)
		})
	}
}

// hastyWriteLock waits for a WriteLock by asking it now and then.
type hastyWriteLock struct {
	lock        *recipes.WriteLock
	hasty, deaf bool
}

func (l *hastyWriteLock) Lock(ctx context.Context) error {
	owned, err := l.lock.Lock(ctx)
	for err == nil && !owned && !l.hasty {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		owned = l.lock.IsOwner() && !l.deaf
	}
	return err
}

func (l *hastyWriteLock) Unlock(ctx context.Context) error { return l.lock.Unlock(ctx) }
