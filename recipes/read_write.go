package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
)

// ErrUpgrade is returned by Lock of a read-write lock while the same handle holds the read lock.
// Unlock it first, and repeat your reads.
var ErrUpgrade = hold.ErrUpgrade

// readWrite is embedded by RWLock.
type readWrite struct{ core *hold.ReadWrite }

// Lock waits until the write lock is owned, ctx is done, or the server refuses. It is Lock of the
// type Lock, but re-entrant: while the write lock is held it returns at once and sends no request.
// It returns ErrUpgrade if the read lock is held and the write lock is not, ErrLost if the hold was
// lost, and ErrHeld if another goroutine is acquiring a lock through this handle.
func (l *readWrite) Lock(ctx context.Context) error { return l.core.Lock(ctx) }

// TryLock is Lock without the wait for other owners: it returns false if there are other owners. It
// does wait for the connection.
func (l *readWrite) TryLock(ctx context.Context) (bool, error) { return l.core.TryLock(ctx) }

// Unlock leaves one level of the write lock. Leaving the last level gives the write lock back, as
// Unlock of the type Lock does. A read lock stays held. The calls of Unlock and RUnlock may come in
// any order.
func (l *readWrite) Unlock(ctx context.Context) error { return l.core.Unlock(ctx) }

// RLock is Lock for the read lock. While this handle holds the write lock, RLock does not wait for
// other owners.
func (l *readWrite) RLock(ctx context.Context) error { return l.core.RLock(ctx) }

// TryRLock is TryLock for the read lock.
func (l *readWrite) TryRLock(ctx context.Context) (bool, error) { return l.core.TryRLock(ctx) }

// RUnlock is Unlock for the read lock.
func (l *readWrite) RUnlock(ctx context.Context) error { return l.core.RUnlock(ctx) }

// Do is Do of the type Lock for the write lock.
func (l *readWrite) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.Do(ctx, work)
}

// RDo is Do for the read lock.
func (l *readWrite) RDo(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.RDo(ctx, work)
}

// Lost returns a channel that is closed when the hold of the write lock has ended, like Lost of the
// type Lock.
func (l *readWrite) Lost() <-chan struct{} { return l.core.Lost() }

// RLost is Lost for the read lock.
func (l *readWrite) RLost() <-chan struct{} { return l.core.RLost() }

// Token returns the fencing token of the write lock, or 0 if it is not held.
func (l *readWrite) Token() int64 { return l.core.Token() }

// RToken returns the fencing token of the read lock, or 0 if it is not held. The resource should
// refuse it after a greater token of a writer.
func (l *readWrite) RToken() int64 { return l.core.RToken() }

// Path returns the path of the node of the write lock, or "" if it is not held.
func (l *readWrite) Path() string { return l.core.Path() }

// RPath returns the path of the node of the read lock, or "" if it is not held.
func (l *readWrite) RPath() string { return l.core.RPath() }

// String returns the states of both locks, for logs.
func (l *readWrite) String() string { return l.core.String() }

// Close ends an acquisition under way, gives both locks back with all their levels, and waits as
// Close of the type Lock does. Later calls that would acquire something return ErrClosed. It leaves
// the Conn open.
func (l *readWrite) Close(ctx context.Context) error { return l.core.Close(ctx) }
