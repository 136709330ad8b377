package hold

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// contender is a way to compete for the ownership of something.
type contender interface {
	// Acquire returns a confirmed hold. If another contender is ahead and wait is false, it returns
	// nil. If it returns no hold, it has removed its nodes from the server, or its error says why
	// not.
	Acquire(r *request.Sender, wait bool) (*Hold, error)
}

// Handle is the common part of the locks with one hold per handle: a contender, its current hold,
// and the clean-up under way. At most one goroutine of a handle sends requests at any time.
type Handle struct {
	Tasks *task.Group
	how   contender

	mu             sync.Mutex
	busy           bool            // an acquisition is under way
	hold           *Hold           // nil: not held
	releasePending bool            // a hold was given back, and no Unlock has returned nil since
	lastDone       <-chan struct{} // closed when the newest task is over; nil: none yet
}

// NewHandle makes a handle for the lock at path. It sends nothing.
func NewHandle(conn request.Conn, path string, opts request.Options, how contender) *Handle {
	return &Handle{Tasks: task.NewGroup(conn, "", path, opts), how: how}
}

// Lock waits until this handle owns the lock. The comments of recipes.Lock say what this method and
// the next ones guarantee.
func (h *Handle) Lock(ctx context.Context) error {
	_, err := h.acquire(ctx, true)
	return h.Tasks.Explain("lock", err)
}

// TryLock is Lock without the wait for other contenders.
func (h *Handle) TryLock(ctx context.Context) (bool, error) {
	held, err := h.acquire(ctx, false)
	return held, h.Tasks.Explain("try lock", err)
}

// Unlock gives the lock back.
func (h *Handle) Unlock(ctx context.Context) error {
	h.mu.Lock()
	h.releasePending = h.releasePending || h.hold != nil
	pending := h.releasePending
	h.mu.Unlock()
	if !pending {
		return h.Tasks.Explain("unlock", request.ErrNotHeld)
	}
	err := h.Release(ctx)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.releasePending = false
	}
	return err
}

// SetReleasePending makes the next Unlock wait for clean-up, even without a hold.
func (h *Handle) SetReleasePending() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.releasePending = true
}

// Release gives a hold back, or waits for the clean-up after the last one.
func (h *Handle) Release(ctx context.Context) error {
	h.mu.Lock()
	held, done, busy := h.hold, h.lastDone, h.busy
	h.hold = nil
	if held != nil {
		held.End()
		t := h.startRelease(held)
		h.mu.Unlock()
		_, known, err := t.Await(ctx)
		err = request.AmbiguousIf(!known || errors.Is(err, request.ErrConnClosed), err)
		return h.Tasks.Explain("unlock", err)
	}
	h.mu.Unlock()
	if busy || done == nil {
		return nil
	}
	return h.Tasks.Explain("unlock", h.Tasks.Settled(ctx, done))
}

// Lost returns a channel that is closed when the current hold has ended.
func (h *Handle) Lost() <-chan struct{} {
	if held := h.Current(); held != nil {
		return held.Ended
	}
	return ClosedChannel()
}

// Token returns the fencing token of the current hold, or 0 without a hold.
func (h *Handle) Token() int64 {
	if held := h.Current(); held != nil {
		return held.Token
	}
	return 0
}

// Path returns the path of the own node, or "" without a hold.
func (h *Handle) Path() string {
	if held := h.Current(); held != nil {
		return held.Path
	}
	return ""
}

// String returns the path and whether the lock is held: "lock /l, held with token 7".
func (h *Handle) String() string {
	held := h.Current()
	switch {
	case held == nil:
		return "lock " + h.Tasks.Path + ", not held"
	case held.Over():
		return "lock " + h.Tasks.Path + ", lost"
	}
	return fmt.Sprintf("lock %s, held with token %d", h.Tasks.Path, held.Token)
}

// Close ends an acquisition under way and gives the lock back.
func (h *Handle) Close(ctx context.Context) error {
	h.startClose()
	return h.Tasks.Close(ctx)
}

// startClose begins Close and does not wait.
func (h *Handle) startClose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Tasks.Cancel(request.ErrClosed)
	if h.hold != nil {
		h.hold.End()
		h.startRelease(h.hold)
		h.hold = nil
	}
}

// Current returns the hold, even a lost one, until it is given back.
func (h *Handle) Current() *Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hold
}

// IsFree reports whether there is no hold, or a lost one.
func (h *Handle) IsFree() bool {
	held := h.Current()
	return held == nil || held.Over()
}

// acquire runs one acquisition.
func (h *Handle) acquire(ctx context.Context, wait bool) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.Tasks.Ctx, func() { cancel(context.Cause(h.Tasks.Ctx)) })()
	t, err := h.startAcquire(ctx, cancel, wait)
	if err != nil {
		return false, err
	}
	held, _, err := t.Await(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	return held != nil, err
}

// startAcquire begins an acquisition. The acquisition first gives a lost hold back.
func (h *Handle) startAcquire(
	ctx context.Context, giveUp context.CancelCauseFunc, wait bool,
) (*task.Task[*Hold], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.Tasks.Begin(); err != nil {
		return nil, err
	}
	before, stale := h.lastDone, h.hold
	if h.busy || stale != nil && !stale.Over() {
		h.Tasks.End()
		return nil, request.ErrHeld
	}
	t := task.Start(func(t *task.Task[*Hold]) (*Hold, error) {
		defer h.Tasks.End()
		r := h.Tasks.Sender(ctx)
		r.GiveUp = giveUp
		defer func() { h.Tasks.Note(r.CleanUpErr) }()
		return h.contend(r, t, before, stale, wait)
	})
	h.busy, h.releasePending, h.hold, h.lastDone = true, false, nil, t.Done
	return t, nil
}

// contend is the work of an acquisition.
func (h *Handle) contend(
	r *request.Sender, t *task.Task[*Hold], before <-chan struct{},
	stale *Hold, wait bool,
) (*Hold, error) {
	if before != nil {
		<-before
	}
	if stale != nil {
		if err := r.Tidy(stale.Release); err != nil {
			return nil, err
		}
	}
	if err := r.Over(); err != nil {
		return nil, err
	}
	held, err := h.how.Acquire(r, wait)
	if held == nil {
		return nil, err
	}
	if task.Keep(h.Tasks, &h.mu, t, held, func() {
		h.hold = held
		held.WatchOver(h.Tasks)
	}) {
		return held, nil
	}
	held.End()
	return nil, errors.Join(h.Tasks.Cause(r.Ctx), r.Tidy(held.Release))
}

// startRelease begins to give held back. The caller holds mu.
func (h *Handle) startRelease(held *Hold) *task.Task[struct{}] {
	t := h.Tasks.CleanUp(h.lastDone, held.Release)
	h.lastDone = t.Done
	return t
}
