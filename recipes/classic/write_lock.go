package classic

import (
	"context"
	"sync"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// LockListener is notified by a WriteLock. Its methods are called one after the other, never at the
// same time. Each LockAcquired is followed by one LockReleased, even if the lock was lost before
// LockAcquired has returned. The methods may call the methods of the lock, except Close, which
// waits for them.
type LockListener interface {
	LockAcquired()
	LockReleased()
}

// RefusalListener is a LockListener that is also notified when a wait for the lock fails: the
// server has refused a request, or the Conn was closed for good. LockRefused is called once for
// each failed wait. Err returns the same error.
type RefusalListener interface {
	LockListener
	LockRefused(err error)
}

// WriteLock is the lock of the Apache recipes. Lock queues without waiting for other owners, and a
// listener is notified when the lock is owned. WriteLock has the methods of the Apache class.
//
// It guarantees: all that Lock does. One call of Lock leads to at most one ownership. LockAcquired
// is called for each ownership and for nothing else; LockReleased is called when the ownership has
// ended by Unlock, Close or a loss. A refusal of Lock by the server shows in Err, and a
// RefusalListener is notified.
//
// When the connection is lost or the session ends, a waiter goes on and an owner is notified, as
// with Lock. After a loss the handle does not queue again until Lock is called again.
//
// It cannot guarantee that IsOwner is still right when it returns, as it sends no request. Use
// Token, or Lost, which does not wait for the listener.
//
// These points had to change: a node belongs to one handle and not to the session, so two handles
// on one session exclude each other; only the sequence numbers decide the order (ZOOKEEPER-2931,
// ZOOKEEPER-4372); a waiter does not wait for a predecessor that has vanished; if a node goes with
// its session, a new one is created; Unlock repeats the delete until it is confirmed; foreign
// children are ignored.
//
// Layout: <dir>/_c_<guid>-x-<sequence>, ephemeral, data = 0x12 0x34 unless set by Data; dir itself
// is persistent.
//
// Sources: WriteLock, LockListener and ProtocolSupport of ZooKeeper's zookeeper-recipes-lock;
// ZOOKEEPER-2931, 3162 and 4372.
type WriteLock struct {
	line   *hold.Turnstile
	handle *hold.Handle
	dir    string

	mu       sync.Mutex
	listener LockListener
	lockCall *lockCall       // of the latest Lock; nil: none yet
	told     <-chan struct{} // closed after all earlier notifications of the listener
}

// NewWriteLock makes a handle for the lock at dir, which is created when needed and must be used
// for this lock only. listener may be nil. It sends nothing. The options that matter are the same
// as for NewLock.
func NewWriteLock(
	conn recipes.Conn, dir string, listener LockListener, opts ...recipes.Option,
) *WriteLock {
	opts = append([]recipes.Option{recipes.Data([]byte{0x12, 0x34})}, opts...)
	line := hold.Turnstile{
		Dir: dir, Kind: writeLockMarker, Markers: []string{writeLockMarker},
		Opts: request.NewOptions(opts), Ahead: hold.Predecessor,
	}
	l := &WriteLock{line: &line, dir: dir, listener: listener, told: hold.ClosedChannel()}
	l.handle = hold.NewHandle(conn, dir, line.Opts, &writeQueue{l, line})
	return l
}

// writeLockMarker stands before the sequence number, as in the Apache recipe.
const writeLockMarker = "x-"

// Lock queues for the lock, and reports whether the lock is owned already. If not, the listener is
// notified as soon as the lock is owned. Lock waits for the connection, but for no other owner. A
// second call reports the present state. If the lock was lost meanwhile, it queues anew.
//
// If ctx is done before the node is in the queue, Lock returns the cause, and the node is removed,
// in the background if need be. After Lock has returned ctx has no effect. A later refusal of the
// server ends the wait: see Err.
func (l *WriteLock) Lock(ctx context.Context) (owned bool, err error) {
	if ctx.Err() != nil {
		return false, l.handle.Tasks.Explain("lock", context.Cause(ctx))
	}
	w, begun, err := l.want()
	if err != nil {
		return false, l.handle.Tasks.Explain("lock", err)
	}
	select {
	case <-w.queued:
	case <-w.tried:
	case <-ctx.Done():
		return l.giveUp(ctx, w, begun)
	}
	return w.outcome()
}

// giveUp ends w if the caller leaves before the node is in the queue. If another call has begun w,
// w goes on.
func (l *WriteLock) giveUp(ctx context.Context, w *lockCall, begun bool) (owned bool, err error) {
	select {
	case <-w.queued:
		return w.outcome()
	default:
	}
	if begun {
		w.cancel()
		<-w.tried
		if owned, err := w.outcome(); owned {
			return owned, err
		}
	}
	return false, l.handle.Tasks.Explain("lock", context.Cause(ctx))
}

// Unlock gives the lock back, or ends the wait for it. In all other respects, ErrNotHeld included,
// it is Unlock of the type Lock. The listener is notified if it was notified of the ownership.
func (l *WriteLock) Unlock(ctx context.Context) error {
	l.mu.Lock()
	w := l.lockCall
	l.mu.Unlock()
	if w != nil {
		l.endWait(w)
	}
	return l.handle.Unlock(ctx)
}

// endWait ends the wait of a call, if it still waits, so that there is something to give back.
func (l *WriteLock) endWait(w *lockCall) {
	select {
	case <-w.tried:
	default:
		w.cancel()
		<-w.tried // after a moment of clean-up
		l.handle.SetReleasePending()
	}
}

// Err returns the reason why the latest Lock will not lead to ownership: the server has refused a
// request, or the Conn was closed for good. It is nil while the lock is waited for or owned, and
// after Unlock and Close. Lock begins anew.
func (l *WriteLock) Err() error {
	l.mu.Lock()
	w := l.lockCall
	l.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.refusal()
}

// IsOwner reports whether the lock is owned, as far as the client knows. It sends nothing.
func (l *WriteLock) IsOwner() bool {
	held := l.handle.Current()
	return held != nil && !held.Over()
}

// ID returns the name of the own node, as owner or waiter, or "".
func (l *WriteLock) ID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lockCall == nil || !l.lockCall.alive() {
		return ""
	}
	return l.lockCall.id
}

// Dir returns the directory of the lock.
func (l *WriteLock) Dir() string { return l.dir }

// Listener returns the listener, which may be nil.
func (l *WriteLock) Listener() LockListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listener
}

// SetListener sets the listener for later notifications; nil is none.
func (l *WriteLock) SetListener(listener LockListener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener = listener
}

// Participants returns the owner of the lock, if there is one, and the waiters in the order of
// their turns; see Participants of the type recipes.Lock.
func (l *WriteLock) Participants(ctx context.Context) (owner, waiters []recipes.Member, err error) {
	all, err := task.Ask(ctx, l.handle.Tasks, "list the participants of", l.line.Participants)
	return members(all.Holders), members(all.Waiters), err
}

// Lost is Lost of the type Lock. It does not wait for the listener.
func (l *WriteLock) Lost() <-chan struct{} { return l.handle.Lost() }

// Token returns the fencing token of the lock, or 0 if the lock is not owned. See Token of the type
// Lock.
func (l *WriteLock) Token() int64 { return l.handle.Token() }

// String returns the directory and whether the lock is held, for logs.
func (l *WriteLock) String() string { return l.handle.String() }

// Close gives the lock back, or ends the wait for it. It waits until nothing is left to clean up
// and the listener has returned, or until ctx is done, as Close of the type Lock does.
func (l *WriteLock) Close(ctx context.Context) error { return l.handle.Close(ctx) }
