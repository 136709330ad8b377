package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
)

// handle is embedded by the locks with one hold for each handle.
type handle struct{ core *hold.Handle }

// Lock waits until this handle owns the lock, ctx is done, or the server refuses a request. It
// outlives a lost connection. After the end of a session it queues again in the new one.
//
// When ctx is done Lock returns the cause, and its node is removed in the background; see the
// package comment. ErrHeld means that this handle owns the lock already or is acquiring it. A lost
// hold is no obstacle: Lock first removes its node, if that still exists.
func (h *handle) Lock(ctx context.Context) error { return h.core.Lock(ctx) }

// TryLock is Lock without the wait for other contenders: it returns false if one is ahead. It does
// wait for the connection.
func (h *handle) TryLock(ctx context.Context) (bool, error) { return h.core.TryLock(ctx) }

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
func (h *handle) Unlock(ctx context.Context) error { return h.core.Unlock(ctx) }

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
	return h.core.Do(ctx, work)
}

// Lost returns a channel that is closed when the current hold has ended. The causes are Unlock,
// Close, a node that another client has deleted or changed, a session that has expired or was
// replaced, a closed Conn, and a connection that was down for too long. Each hold has its own
// channel. Without a hold the channel is closed already.
//
// It is a hint, and can come late: see the limits in the package comment.
func (h *handle) Lost() <-chan struct{} { return h.core.Lost() }

// Token returns the fencing token of the current hold, or 0 without a hold. The token is the czxid
// of the holder's node. Every later holder of the same lock has a greater token, even after the
// parents were deleted and created again.
func (h *handle) Token() int64 { return h.core.Token() }

// Path returns the path of the own node, or "" without a hold.
func (h *handle) Path() string { return h.core.Path() }

// String returns the path and whether the lock is held, for logs: "lock /l, held with token 7".
func (h *handle) String() string { return h.core.String() }

// Close ends an acquisition under way, gives the lock back, and waits until nothing is left to
// clean up or ctx is done; in the latter case the clean-up goes on. Afterwards Lock and TryLock
// return ErrClosed. It leaves the Conn open. It returns the first refusal of the server to remove a
// node of this handle. That node stays until the session ends.
func (h *handle) Close(ctx context.Context) error { return h.core.Close(ctx) }
