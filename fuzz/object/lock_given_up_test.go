package object_test

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

// headKeeper is a lock with a bug: a Lock that has reached the head of the line keeps its place
// when its context is done. The next Lock of the same handle uses the place, so only a client that
// leaves shows the bug.
type headKeeper struct {
	seats
	own seat
}

func (l *headKeeper) Lock(ctx context.Context) (err error) {
	if l.own.path == "" {
		if l.own, err = l.sit("write"); err != nil {
			return err
		}
	}
	for {
		first, err := l.isFirst(l.own, alone)
		switch {
		case err != nil:
			return err
		case first:
			return ctx.Err() // wrong: the place must be given up with an error
		case !nap(ctx, l.period):
			if first, err := l.isFirst(l.own, alone); first && err == nil {
				return ctx.Err() // wrong, too
			}
			return l.Unlock(ctx)
		}
	}
}

func (l *headKeeper) Unlock(ctx context.Context) error {
	if err := l.leave(l.own); err != nil {
		return err
	}
	l.own = seat{}
	return ctx.Err()
}

// TestALockThatKeepsItsPlaceIsFound: runs without faults show the bug.
func TestALockThatKeepsItsPlaceIsFound(t *testing.T) {
	t.Parallel()
	w := object.Lock(func(env object.Env) object.Locker {
		return &headKeeper{seats: seats{
			conn: env.InTurn(), dir: env.Path, name: env.Name, period: 3 * time.Millisecond,
		}}
	})
	if v := firstViolation(t, w, linearizability.Orphans); v == "" {
		t.Error("nothing is ever left")
	} else {
		t.Log(v)
	}
}
