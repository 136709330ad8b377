package hold

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Do waits for the lock as Lock does, calls work with the fencing token, and gives the lock back as
// Unlock does, even if work panics. The context of work ends with ctx or with the hold. If the hold
// ends first, the cause is ErrLost, or ErrClosed after Close. Do waits for the return of work, so
// work should return soon after its context is done.
//
// If Lock fails, Do returns that error and does not call work. Otherwise the error of Do wraps
//
//   - ErrLost or ErrClosed, if the hold has ended before work returned, even if work returned nil:
//     another client may have owned the lock meanwhile;
//   - the error of work;
//   - the error of Unlock, such as ErrAmbiguous if ctx is done before the server has confirmed the
//     release, which goes on in the background.
//
// It is nil if none of these has happened. A panic of work continues at most a moment after the
// release has begun.
func (h *Handle) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return h.do(ctx, h.Lock, h.Unlock, work)
}

// Do is Do of a handle for one more level.
func (n *Nested) Do(ctx context.Context, work func(ctx context.Context, token int64) error) error {
	return n.do(ctx, n.Lock, n.Unlock, work)
}

// Do is Do of a handle for the write lock.
func (l *ReadWrite) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.write.do(ctx, l.Lock, l.Unlock, work)
}

// RDo is Do for the read lock.
func (l *ReadWrite) RDo(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.read.do(ctx, l.RLock, l.RUnlock, work)
}

// do is Do with the given methods of a handle.
func (h *Handle) do(
	ctx context.Context, lock, unlock func(context.Context) error,
	work func(ctx context.Context, token int64) error,
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
	ctx context.Context, l *task.Group, held *Hold, lost error, release func(context.Context) error,
	work func(ctx context.Context, token int64) error,
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
	err = during(ctx, l, held, lost, work)
	returned = true
	return err
}

// during calls work. If the hold has ended when work returns, the error wraps the reason.
func during(
	ctx context.Context, l *task.Group, held *Hold, lost error,
	work func(ctx context.Context, token int64) error,
) error {
	ctx, cancel := WhileHeld(ctx, l, held, lost)
	defer cancel(nil)
	err := work(ctx, held.Token)
	if !held.Over() {
		return err
	}
	ended := cmp.Or(context.Cause(l.Ctx), lost)
	if err == nil || errors.Is(err, ended) {
		return fmt.Errorf("work under %s: %w", l.Path, cmp.Or(err, ended))
	}
	return fmt.Errorf("work under %s: %w: %w", l.Path, ended, err)
}

// WhileHeld returns a context that ends with the hold. The cause is then the error lost, or
// ErrClosed after Close.
func WhileHeld(
	ctx context.Context, l *task.Group, held *Hold, lost error,
) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-held.Ended:
			cancel(cmp.Or(context.Cause(l.Ctx), lost))
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
