package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
)

// ErrLost is returned by Lock of a re-entrant lock if the present hold was lost, with its session
// for instance. The outer levels protect nothing any more, so the caller has to unlock each of
// them. Then the lock can be locked anew.
var ErrLost = hold.ErrLost

// ReentrantLock is a Lock that its owner may lock several times. The lock is given back by the last
// of as many unlocks. One ReentrantLock is one owner for all goroutines, as goroutines have no
// identity. Goroutines that exclude each other need one ReentrantLock each.
//
// It guarantees all that Lock does. Further levels cost no request. All levels belong to one hold:
// after its loss Lock returns ErrLost until each level is unlocked. Then Lock acquires the lock
// anew, under a greater token.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. An inner
// Lock does not notice an expiry before the client does. Use Token.
//
// Layout: that of Lock. A Lock and a ReentrantLock can share a path.
//
// Sources: those of Lock; Curator's InterProcessMutex, which grants a lock again from its map of
// threads after the session has ended.
type ReentrantLock struct {
	handle
	inLine
	nested *hold.Nested
}

// NewReentrantLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are the same as for NewLock.
func NewReentrantLock(conn Conn, path string, opts ...Option) *ReentrantLock {
	lock := NewLock(conn, path, opts...)
	return &ReentrantLock{lock.handle, lock.inLine, hold.NewNested(lock.core)}
}

// Lock goes one level deeper at once if this handle owns the lock. Otherwise it waits for the lock
// as Lock of the type Lock does. It returns ErrLost if the hold was lost, and ErrHeld if another
// goroutine is acquiring the lock through this handle.
func (l *ReentrantLock) Lock(ctx context.Context) error {
	return l.nested.Lock(ctx)
}

// TryLock is Lock without the wait for another owner: it returns false if there is another owner.
// It does wait for the connection.
func (l *ReentrantLock) TryLock(ctx context.Context) (bool, error) {
	return l.nested.TryLock(ctx)
}

// Unlock leaves the innermost level. Leaving the last level gives the lock back, as Unlock of the
// type Lock does.
func (l *ReentrantLock) Unlock(ctx context.Context) error { return l.nested.Unlock(ctx) }

// Do is Do of the type Lock for one more level.
func (l *ReentrantLock) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.nested.Do(ctx, work)
}
