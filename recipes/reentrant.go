package recipes

import "context"

// ReentrantLock is a Lock that its owner may lock again; the last of the same number of unlocks
// gives it back. One ReentrantLock is one owner for all goroutines, as goroutines have no identity.
// Goroutines that exclude each other need one each.
//
// It guarantees all that Lock does. Further levels cost no request. All levels belong to one hold:
// after its loss Lock returns ErrLost until each level is unlocked. Then Lock acquires the lock
// anew, under a greater token.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. Besides, it
// cannot guarantee that an inner Lock notices an expiry before the client does. Use Token.
//
// Layout: as Lock; both can share a path.
//
// Sources: those of Lock; Curator's InterProcessMutex, which grants a lock again from its map of
// threads after the session has ended.
type ReentrantLock struct {
	*nested
	inLine
}

// NewReentrantLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are the same as for NewLock.
func NewReentrantLock(conn Conn, path string, opts ...Option) *ReentrantLock {
	lock := NewLock(conn, path, opts...)
	return &ReentrantLock{&nested{handle: lock.handle}, lock.inLine}
}

// Lock goes one level deeper if this handle owns the lock, at once. Otherwise it waits for it as
// Lock of the type Lock does. It returns ErrLost if the hold was lost, and ErrHeld if another
// goroutine is acquiring the lock through this handle.
func (l *ReentrantLock) Lock(ctx context.Context) error {
	_, err := l.lock(ctx, true)
	return l.explain("lock", err)
}

// TryLock is Lock that does not wait for another owner: it returns false when there is one. It does
// wait for the connection.
func (l *ReentrantLock) TryLock(ctx context.Context) (bool, error) {
	held, err := l.lock(ctx, false)
	return held, l.explain("try lock", err)
}

// Unlock leaves the innermost level. With the last one it gives the lock back as Unlock of the type
// Lock does.
func (l *ReentrantLock) Unlock(ctx context.Context) error { return l.unlock(ctx) }
