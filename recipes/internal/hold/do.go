package hold

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Work is what is done under a hold.
type Work func(ctx context.Context, token int64) error

// Do calls work while the lock is held.
func (h *Handle) Do(ctx context.Context, work Work) error {
	return h.do(ctx, h.Lock, h.Unlock, work)
}

// Do is Do of a handle for one more level.
func (n *Nested) Do(ctx context.Context, work Work) error {
	return n.do(ctx, n.Lock, n.Unlock, work)
}

// Do is Do of a handle for the write lock.
func (l *ReadWrite) Do(ctx context.Context, work Work) error {
	return l.Write.do(ctx, l.Lock, l.Write.Unlock, work)
}

// RDo is Do for the read lock.
func (l *ReadWrite) RDo(ctx context.Context, work Work) error {
	return l.Read.do(ctx, l.RLock, l.Read.Unlock, work)
}

// do is Do with the given methods of a handle.
func (h *Handle) do(
	ctx context.Context, lock, unlock func(context.Context) error, work Work,
) error {
	if err := lock(ctx); err != nil {
		return err
	}
	held := h.Current()
	if held == nil {
		return h.Tasks.Explain("lock", cmp.Or(context.Cause(h.Tasks.Ctx), ErrLost))
	}
	return Under(ctx, h.Tasks, held, ErrLost, func(ctx context.Context) error {
		if h.Current() != held {
			return nil // Close has given it back, or work has called Unlock
		}
		return unlock(ctx)
	}, work)
}

// Under calls work under a hold, and then release. A panic of work does not wait for the end of the
// release.
func Under(
	ctx context.Context, tasks *task.Group, held *Hold, lost error,
	release func(context.Context) error, work Work,
) (err error) {
	returned := false
	defer func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if !returned {
			cancel()
		}
		err = request.FirstOf(err, release(ctx))
	}()
	err = during(ctx, tasks, held, lost, work)
	returned = true
	return err
}

// during calls work. If the hold has ended when work returns, the error wraps the reason.
func during(ctx context.Context, tasks *task.Group, held *Hold, lost error, work Work) error {
	ctx, cancel := WhileHeld(ctx, tasks, held, lost)
	defer cancel(nil)
	err := work(ctx, held.Token)
	if !held.Over() {
		return err
	}
	ended := cmp.Or(context.Cause(tasks.Ctx), lost)
	if err == nil || errors.Is(err, ended) {
		return fmt.Errorf("work under %s: %w", tasks.Path, cmp.Or(err, ended))
	}
	return fmt.Errorf("work under %s: %w: %w", tasks.Path, ended, err)
}

// WhileHeld returns a context that ends with the hold. The cause is then the error lost, or
// ErrClosed after Close.
func WhileHeld(
	ctx context.Context, tasks *task.Group, held *Hold, lost error,
) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-held.Ended:
			cancel(cmp.Or(context.Cause(tasks.Ctx), lost))
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
