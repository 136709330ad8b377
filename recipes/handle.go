package recipes

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// contender is a way to compete for the ownership of something.
type contender interface {
	// acquire returns a confirmed hold. If another contender is ahead and wait is false, it returns
	// nil. If it returns no hold, it has removed its nodes from the server, or its error says why
	// not.
	acquire(ctx context.Context, r *requests, wait bool) (*hold, error)
}

// handle is the common part of the locks with one hold per handle: a contender, its current hold,
// and the clean-up under way. At most one goroutine of a handle sends requests at any time.
type handle struct {
	*lifecycle
	how contender

	mu             sync.Mutex
	busy           bool            // an acquisition is under way
	hold           *hold           // nil: not held
	releasePending bool            // a hold was given back, and no Unlock has returned nil since
	lastDone       <-chan struct{} // closed when the newest task is over; nil: none yet
}

// newHandle makes a handle for the lock at path. It sends nothing.
func newHandle(conn Conn, path string, opts []Option, how contender) *handle {
	return &handle{lifecycle: newLifecycle(conn, "", path, opts), how: how}
}

// Lock waits until this handle owns the lock, ctx is done, or the server refuses a request. It
// outlives a lost connection. After the end of a session it queues again in the new one.
//
// When ctx is done Lock returns the cause, and its node is removed in the background; see the
// package comment. ErrHeld means that this handle owns the lock already or is acquiring it. A lost
// hold is no obstacle: Lock first removes its node, if that still exists.
func (h *handle) Lock(ctx context.Context) error {
	_, err := h.acquire(ctx, true)
	return h.explain("lock", err)
}

// TryLock is Lock without the wait for other contenders: it returns false if one is ahead. It does
// wait for the connection.
func (h *handle) TryLock(ctx context.Context) (bool, error) {
	held, err := h.acquire(ctx, false)
	return held, h.explain("try lock", err)
}

// Unlock gives the lock back. The handle ends its hold and closes Lost before the first request.
// The deletion of the node is repeated until the server has confirmed it.
//
// Unlock returns nil after the confirmation. If ctx is done first, or from the start, Unlock
// returns an error after a moment. The deletion then goes on in the background until the server
// confirms or refuses it, or the Conn is closed. If Unlock learns that the Conn is closed, its
// error wraps ErrConnClosed; the node goes with the session. In every case the handle can be used
// again.
//
// Without a hold Unlock returns ErrNotHeld and changes nothing. After an Unlock that has returned
// an error, the next Unlock waits for the clean-up and returns the error that Close would return.
func (h *handle) Unlock(ctx context.Context) error {
	h.mu.Lock()
	h.releasePending = h.releasePending || h.hold != nil
	pending := h.releasePending
	h.mu.Unlock()
	if !pending {
		return h.explain("unlock", ErrNotHeld)
	}
	err := h.release(ctx)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.releasePending = false
	}
	return err
}

// setReleasePending makes the next Unlock wait for clean-up, even without a hold.
func (h *handle) setReleasePending() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.releasePending = true
}

// release gives a hold back, or waits for the clean-up after the last one.
func (h *handle) release(ctx context.Context) error {
	h.mu.Lock()
	held, done, busy := h.hold, h.lastDone, h.busy
	h.hold = nil
	if held != nil {
		held.end()
		t := h.startRelease(held)
		h.mu.Unlock()
		_, known, err := t.await(ctx)
		return h.explain("unlock", ambiguousIf(!known || errors.Is(err, ErrConnClosed), err))
	}
	h.mu.Unlock()
	if busy || done == nil {
		return nil
	}
	return h.explain("unlock", h.settled(ctx, done))
}

// Lost returns a channel that is closed when the current hold has ended. The causes are Unlock,
// Close, a node that another client has deleted or changed, a session that has expired or was
// replaced, a closed Conn, and a connection that was down for too long. Each hold has its own
// channel. Without a hold the channel is closed already.
//
// It is a hint, and can come late: see the limits in the package comment.
func (h *handle) Lost() <-chan struct{} {
	if held := h.current(); held != nil {
		return held.ended
	}
	return closedChannel()
}

// Token returns the fencing token of the current hold, or 0 without a hold. The token is the czxid
// of the holder's node. Every later holder of the same lock has a greater token, even after the
// parents were deleted and created again.
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

// String returns the path and whether the lock is held, for logs: "lock /l, held with token 7".
func (h *handle) String() string {
	held := h.current()
	switch {
	case held == nil:
		return "lock " + h.path + ", not held"
	case held.over():
		return "lock " + h.path + ", lost"
	}
	return fmt.Sprintf("lock %s, held with token %d", h.path, held.token)
}

// Close ends an acquisition under way, gives the lock back, and waits until nothing is left to
// clean up or ctx is done; in the latter case the clean-up goes on. Afterwards Lock and TryLock
// return ErrClosed. It leaves the Conn open. It returns the first refusal of the server to remove a
// node of this handle. That node stays until the session ends.
func (h *handle) Close(ctx context.Context) error {
	h.startClose()
	return h.lifecycle.Close(ctx)
}

// startClose begins Close and does not wait.
func (h *handle) startClose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel(ErrClosed)
	if h.hold != nil {
		h.hold.end()
		h.startRelease(h.hold)
		h.hold = nil
	}
}

// current returns the hold, even a lost one, until it is given back.
func (h *handle) current() *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hold
}

// isFree reports whether there is no hold, or a lost one.
func (h *handle) isFree() bool {
	held := h.current()
	return held == nil || held.over()
}

// acquire runs one acquisition.
func (h *handle) acquire(ctx context.Context, wait bool) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })()
	t, err := h.startAcquire(ctx, cancel, wait)
	if err != nil {
		return false, err
	}
	held, _, err := t.await(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	return held != nil, err
}

// startAcquire begins an acquisition. The acquisition first gives a lost hold back.
func (h *handle) startAcquire(
	ctx context.Context, giveUp context.CancelCauseFunc, wait bool,
) (*task[*hold], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.begin(); err != nil {
		return nil, err
	}
	before, stale := h.lastDone, h.hold
	if h.busy || stale != nil && !stale.over() {
		h.end()
		return nil, ErrHeld
	}
	t := start(func(t *task[*hold]) (*hold, error) {
		defer h.end()
		r := h.requests()
		r.giveUp = giveUp
		defer func() { h.note(r.cleanUpErr) }()
		return h.contend(ctx, r, t, before, stale, wait)
	})
	h.busy, h.releasePending, h.hold, h.lastDone = true, false, nil, t.done
	return t, nil
}

// contend is the work of an acquisition.
func (h *handle) contend(
	ctx context.Context, r *requests, t *task[*hold], before <-chan struct{},
	stale *hold, wait bool,
) (*hold, error) {
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
	held.end()
	return nil, errors.Join(h.cause(ctx), r.tidy(held.release))
}

// keep makes held the current hold. If the caller has left or the handle was closed meanwhile, it
// returns false, and the caller of keep must give held back.
func (h *handle) keep(t *task[*hold], held *hold) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed() || !t.settle(held) {
		return false
	}
	h.hold = held
	h.watchOver(held)
	return true
}

// startRelease begins to give held back. The caller holds mu.
func (h *handle) startRelease(held *hold) *task[struct{}] {
	t := h.cleanUp(h.lastDone, held.release)
	h.lastDone = t.done
	return t
}
