package hold

import (
	"context"
	"errors"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrUpgrade is returned by Lock of a read-write lock while the same handle holds the read lock.
// Unlock it first, and repeat your reads.
var ErrUpgrade = errors.New("a reader cannot become the writer")

// The markers of the two kinds of nodes.
const (
	ReadMarker  = "read-"
	WriteMarker = "write-"
)

// ReadWrite is shared by the read-write locks. It consists of two re-entrant locks of one owner,
// and acquires one of them at a time.
type ReadWrite struct {
	write, read *Nested

	mu        sync.Mutex
	acquiring bool
}

func NewReadWrite(write, read *Handle) *ReadWrite {
	write.Tasks.Kind, read.Tasks.Kind = "for writing", "for reading"
	return &ReadWrite{write: NewNested(write), read: NewNested(read)}
}

// Lock waits until the write lock is owned, ctx is done, or the server refuses. It is Lock of the
// type Lock, but re-entrant: while the write lock is held it returns at once and sends no request.
// It returns ErrUpgrade if the read lock is held and the write lock is not, ErrLost if the hold was
// lost, and ErrHeld if another goroutine is acquiring a lock through this handle.
func (l *ReadWrite) Lock(ctx context.Context) error {
	_, err := l.acquire(ctx, l.write, true)
	return l.write.Tasks.Explain("lock", err)
}

// TryLock is Lock without the wait for other owners: it returns false if there are other owners. It
// does wait for the connection.
func (l *ReadWrite) TryLock(ctx context.Context) (bool, error) {
	held, err := l.acquire(ctx, l.write, false)
	return held, l.write.Tasks.Explain("try lock", err)
}

// Unlock leaves one level of the write lock. Leaving the last level gives the write lock back, as
// Unlock of the type Lock does. A read lock stays held. The calls of Unlock and RUnlock may come in
// any order.
func (l *ReadWrite) Unlock(ctx context.Context) error { return l.write.Unlock(ctx) }

// RLock is Lock for the read lock. While this handle holds the write lock, RLock does not wait for
// other owners.
func (l *ReadWrite) RLock(ctx context.Context) error {
	_, err := l.acquire(ctx, l.read, true)
	return l.read.Tasks.Explain("lock", err)
}

// TryRLock is TryLock for the read lock.
func (l *ReadWrite) TryRLock(ctx context.Context) (bool, error) {
	held, err := l.acquire(ctx, l.read, false)
	return held, l.read.Tasks.Explain("try lock", err)
}

// RUnlock is Unlock for the read lock.
func (l *ReadWrite) RUnlock(ctx context.Context) error { return l.read.Unlock(ctx) }

// Lost returns a channel that is closed when the hold of the write lock has ended, like Lost of the
// type Lock.
func (l *ReadWrite) Lost() <-chan struct{} { return l.write.Lost() }

// RLost is Lost for the read lock.
func (l *ReadWrite) RLost() <-chan struct{} { return l.read.Lost() }

// Token returns the fencing token of the write lock, or 0 if it is not held.
func (l *ReadWrite) Token() int64 { return l.write.Token() }

// RToken returns the fencing token of the read lock, or 0 if it is not held. The resource should
// refuse it after a greater token of a writer.
func (l *ReadWrite) RToken() int64 { return l.read.Token() }

// Path returns the path of the node of the write lock, or "" if it is not held.
func (l *ReadWrite) Path() string { return l.write.Path() }

// RPath returns the path of the node of the read lock, or "" if it is not held.
func (l *ReadWrite) RPath() string { return l.read.Path() }

// String returns the states of both locks, for logs.
func (l *ReadWrite) String() string {
	return "for writing: " + l.write.String() + "; for reading: " + l.read.String()
}

// Close ends an acquisition under way, gives both locks back with all their levels, and waits as
// Close of the type Lock does. Later calls that would acquire something return ErrClosed. It leaves
// the Conn open.
func (l *ReadWrite) Close(ctx context.Context) error {
	return task.InParallel([]*Nested{l.write, l.read}, func(side *Nested) error {
		return side.Close(ctx)
	})
}

// acquire goes one level deeper into the read or the write lock, or acquires it.
func (l *ReadWrite) acquire(ctx context.Context, side *Nested, wait bool) (bool, error) {
	if !l.begin() {
		return l.lockInner(ctx, side)
	}
	defer l.end()
	if side == l.write && l.write.Current() == nil {
		if err := l.mayWrite(); err != nil {
			return false, err
		}
	}
	return side.lock(ctx, wait)
}

// lockInner goes one level deeper while another acquisition is under way.
func (l *ReadWrite) lockInner(ctx context.Context, side *Nested) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	held, err := side.again()
	if !held {
		err = request.ErrHeld
	}
	return err == nil, err
}

// mayWrite returns an error if the handle holds the read lock.
func (l *ReadWrite) mayWrite() error {
	held := l.read.Current()
	switch {
	case held == nil:
		return nil
	case held.Over():
		return ErrLost
	}
	return ErrUpgrade
}

// begin begins an acquisition, or returns false if one is under way.
func (l *ReadWrite) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acquiring {
		return false
	}
	l.acquiring = true
	return true
}

func (l *ReadWrite) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acquiring = false
}
