package recipes

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// contender is a way to compete for the ownership of something.
type contender interface {
	// acquire returns a confirmed hold. If wait is false it returns nil
	// instead of waiting for another owner. Without a hold it has removed
	// from the server everything it has made, or says in the error why not.
	acquire(ctx context.Context, r *requests, wait bool) (*hold, error)
}

// handle is what Lock and HerdLock share: one contender, its current hold, and
// the clean-up that is still going on. At most one goroutine of a handle sends
// requests at any time.
type handle struct {
	conn Conn
	path string
	how  contender
	opts options

	mu     sync.Mutex
	closed bool
	busy   context.CancelCauseFunc // ends the acquisition under way; nil: none
	hold   *hold                   // nil: not held
	rest   <-chan struct{}         // closed when the newest task is over; nil: none yet

	trouble error // the first clean-up that the server has refused
}

// Lock waits until the lock is owned, ctx is done, or the server refuses. It
// outlives lost connections and ended sessions: then it queues again in the
// new session.
//
// When ctx is done it returns the cause of that, and what it has made on the
// server is removed in the background; see the package comment. ErrHeld means
// that this handle owns the lock or is acquiring it already. A hold that was
// lost does not count: its node, if any, is removed first.
func (h *handle) Lock(ctx context.Context) error {
	_, err := h.acquire(ctx, true)
	return h.explain("lock", err)
}

// TryLock is Lock that does not wait for another owner: it returns false when
// there is one. It does wait for the connection.
func (h *handle) TryLock(ctx context.Context) (bool, error) {
	held, err := h.acquire(ctx, false)
	return held, h.explain("try lock", err)
}

// Unlock gives the lock back. The handle stops being the owner at once, and
// Lost is closed, before anything is sent; the node is deleted on the server
// by as many requests as that takes.
//
// It returns nil when the server has confirmed that. If ctx is done before,
// also if it was done from the start, it returns an error after a moment,
// and the deletion goes on in the background until it is confirmed, refused,
// or the Conn is closed (then the error wraps ErrConnClosed if it comes in
// time, and the node goes with the session). In every case the handle can be
// used again.
// Without a hold, and so also the second time, it only waits for clean-up, and
// returns what Close does.
func (h *handle) Unlock(ctx context.Context) error {
	h.mu.Lock()
	held, rest, busy := h.hold, h.rest, h.busy != nil
	h.hold = nil
	if held != nil {
		held.end()
		t := h.startRelease(held)
		h.mu.Unlock()
		_, _, err := t.await(ctx)
		return h.explain("unlock", err)
	}
	h.mu.Unlock()
	if busy || rest == nil {
		return nil
	}
	return h.explain("unlock", h.awaitRest(ctx, rest))
}

// Lost returns a channel that is closed when the current hold has ended:
// because the own node is gone or was tampered with, because the session has
// expired or was replaced, because the Conn was closed, with SessionTimeout
// because the connection has been down for too long, and by Unlock and Close.
// Each hold has its own channel. Without a hold the channel is closed already.
//
// It is a hint, and can come late: see the limits in the package comment.
func (h *handle) Lost() <-chan struct{} {
	if held := h.current(); held != nil {
		return held.ended
	}
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Token returns the fencing token of the current hold, or 0 without a hold.
// Every later owner of the same lock has a greater token, also after the
// parents were deleted and made again: it is the czxid of the own node.
func (h *handle) Token() int64 {
	if held := h.current(); held != nil {
		return held.token
	}
	return 0
}

// Path returns the path of the own node, or "" without a hold.
func (h *handle) Path() string {
	if held := h.current(); held != nil {
		return held.path
	}
	return ""
}

// Close ends an acquisition under way, gives the lock back, and waits until
// nothing is left to clean up or ctx is done; in the latter case the clean-up
// goes on. Afterwards Lock and TryLock return ErrClosed. It leaves the Conn
// open. It returns the first error by which the server has refused to remove a
// node that this handle has made: that one stays until the session ends.
func (h *handle) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	if h.busy != nil {
		h.busy(ErrClosed)
	}
	if h.hold != nil {
		h.hold.end()
		h.startRelease(h.hold)
		h.hold = nil
	}
	rest := h.rest
	h.mu.Unlock()
	if rest == nil {
		return nil
	}
	return h.explain("close", h.awaitRest(ctx, rest))
}

// awaitRest waits for clean-up, and returns the trouble with any so far.
func (h *handle) awaitRest(ctx context.Context, rest <-chan struct{}) error {
	if err := awaitDone(ctx, rest); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}

// note keeps the trouble of a task for those who wait for its end.
func (h *handle) note(trouble error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trouble == nil {
		h.trouble = trouble
	}
}

// current returns the hold, also one that is lost but was not given back.
func (h *handle) current() *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hold
}

// acquire runs one acquisition.
func (h *handle) acquire(ctx context.Context, wait bool) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t, err := h.startAcquire(ctx, cancel, wait)
	if err != nil {
		return false, err
	}
	held, _, err := t.await(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = nil
	return held != nil, err
}

// startAcquire begins an acquisition, which first gives a lost hold back.
func (h *handle) startAcquire(ctx context.Context, cancel context.CancelCauseFunc, wait bool) (*task[*hold], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stale := h.hold
	switch {
	case h.closed:
		return nil, ErrClosed
	case h.busy != nil, stale != nil && !stale.over():
		return nil, ErrHeld
	}
	before := h.rest
	t := start(func(t *task[*hold]) (*hold, error) {
		return h.contend(ctx, t, before, stale, wait)
	})
	h.busy, h.hold, h.rest = cancel, nil, t.done
	return t, nil
}

// contend is the work of an acquisition.
func (h *handle) contend(ctx context.Context, t *task[*hold], before <-chan struct{}, stale *hold, wait bool) (*hold, error) {
	r := &requests{conn: h.conn}
	defer func() { h.note(r.trouble) }()
	if before != nil {
		<-before
	}
	if stale != nil {
		if err := r.tidy(stale.release); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	held, err := h.how.acquire(ctx, r, wait)
	if held == nil || h.keep(t, held) {
		return held, err
	}
	return nil, errors.Join(context.Cause(ctx), r.tidy(held.release))
}

// keep makes held the current hold. It returns false, and held must be given
// back, if the caller has left or the handle was closed meanwhile.
func (h *handle) keep(t *task[*hold], held *hold) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !t.settle(held) {
		return false
	}
	h.hold = held
	go held.guard(h.conn, h.opts.sessionTimeout)
	return true
}

// startRelease begins to give held back. The caller has locked mu.
func (h *handle) startRelease(held *hold) *task[struct{}] {
	before := h.rest
	t := start(func(*task[struct{}]) (struct{}, error) {
		if before != nil {
			<-before
		}
		r := &requests{conn: h.conn}
		defer func() { h.note(r.trouble) }()
		return struct{}{}, r.tidy(held.release)
	})
	h.rest = t.done
	return t
}

// explain says what was attempted on what.
func (h *handle) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, h.path, err)
}
