package recipes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
func (h *handle) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return h.do(ctx, h.Lock, h.Unlock, work)
}

// Do is Do of the type Lock for one more level.
func (l *ReentrantLock) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.do(ctx, l.Lock, l.Unlock, work)
}

// Do is Do of the type Lock for the write lock.
func (l *readWrite) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.write.do(ctx, l.Lock, l.Unlock, work)
}

// RDo is Do for the read lock.
func (l *readWrite) RDo(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.read.do(ctx, l.RLock, l.RUnlock, work)
}

// Do is Do of the type Lock for one lease.
func (s *Semaphore) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	lease, err := s.Acquire(ctx)
	if err != nil {
		return err
	}
	return s.under(ctx, lease.hold, ErrLost, lease.Release, work)
}

// Do waits for leadership as Await does, and calls work with the epoch. The context of work ends
// with ctx or with the term. If the term ends first, the cause is ErrLeadershipLost, or ErrClosed
// after Close, and the error of Do wraps that cause and the error of work. The candidate still
// leads after Do, until Close. Do needs Start.
func (l *LeaderLatch) Do(
	ctx context.Context, work func(ctx context.Context, epoch int64) error,
) error {
	term, err := l.Await(ctx)
	if err != nil {
		return err
	}
	goOn := func(context.Context) error { return nil }
	return l.under(ctx, term.held, ErrLeadershipLost, goOn, work)
}

// do is Do with the given methods of a handle.
func (h *handle) do(
	ctx context.Context, lock, unlock func(context.Context) error,
	work func(ctx context.Context, token int64) error,
) error {
	if err := lock(ctx); err != nil {
		return err
	}
	held := h.current()
	if held == nil {
		return h.explain("lock", cmp.Or(context.Cause(h.ctx), ErrLost))
	}
	return h.under(ctx, held, ErrLost, func(ctx context.Context) error {
		if h.current() != held {
			return nil // Close has given it back, or work has called Unlock
		}
		return unlock(ctx)
	}, work)
}

// under calls work under a hold, and then release. A panic of work does not wait for the end of the
// release.
func (l *lifecycle) under(
	ctx context.Context, held *hold, lost error, release func(context.Context) error,
	work func(ctx context.Context, token int64) error,
) (err error) {
	returned := false
	defer func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if !returned {
			cancel()
		}
		err = firstOf(err, release(ctx))
	}()
	err = l.during(ctx, held, lost, work)
	returned = true
	return err
}

// during calls work. If the hold has ended when work returns, the error wraps the reason.
func (l *lifecycle) during(
	ctx context.Context, held *hold, lost error,
	work func(ctx context.Context, token int64) error,
) error {
	ctx, cancel := l.whileHeld(ctx, held, lost)
	defer cancel(nil)
	err := work(ctx, held.token)
	if !held.over() {
		return err
	}
	ended := cmp.Or(context.Cause(l.ctx), lost)
	if err == nil || errors.Is(err, ended) {
		return fmt.Errorf("work under %s: %w", l.path, cmp.Or(err, ended))
	}
	return fmt.Errorf("work under %s: %w: %w", l.path, ended, err)
}

// whileHeld returns a context that ends with the hold. The cause is then the error lost, or
// ErrClosed after Close.
func (l *lifecycle) whileHeld(
	ctx context.Context, held *hold, lost error,
) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-held.ended:
			cancel(cmp.Or(context.Cause(l.ctx), lost))
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
