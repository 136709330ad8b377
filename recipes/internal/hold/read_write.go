package hold

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrUpgrade says that the handle holds the read lock.
var ErrUpgrade = errors.New("a reader cannot become the writer")

// The markers of the two kinds of nodes.
const (
	ReadMarker  = "read-"
	WriteMarker = "write-"
)

// ReadWrite is a read-write lock. It consists of two re-entrant locks of one owner, and acquires
// one of them at a time. The comments of recipes.RWLock say what its methods guarantee.
type ReadWrite struct {
	Write, Read *Nested

	acquiring atomic.Bool
}

// NewReadWrite makes a read-write lock of two locks.
func NewReadWrite(write, read *Handle) *ReadWrite {
	write.Tasks.Kind, read.Tasks.Kind = "for writing", "for reading"
	return &ReadWrite{Write: NewNested(write), Read: NewNested(read)}
}

// Lock waits for the write lock, or goes one level deeper.
func (l *ReadWrite) Lock(ctx context.Context) error {
	_, err := l.acquire(ctx, l.Write, true)
	return l.Write.Tasks.Explain("lock", err)
}

// TryLock is Lock without the wait for other owners.
func (l *ReadWrite) TryLock(ctx context.Context) (bool, error) {
	held, err := l.acquire(ctx, l.Write, false)
	return held, l.Write.Tasks.Explain("try lock", err)
}

// RLock is Lock for the read lock.
func (l *ReadWrite) RLock(ctx context.Context) error {
	_, err := l.acquire(ctx, l.Read, true)
	return l.Read.Tasks.Explain("lock", err)
}

// TryRLock is TryLock for the read lock.
func (l *ReadWrite) TryRLock(ctx context.Context) (bool, error) {
	held, err := l.acquire(ctx, l.Read, false)
	return held, l.Read.Tasks.Explain("try lock", err)
}

// String returns the states of both locks, for logs.
func (l *ReadWrite) String() string {
	return "for writing: " + l.Write.String() + "; for reading: " + l.Read.String()
}

// Close gives both locks back with all their levels.
func (l *ReadWrite) Close(ctx context.Context) error {
	return task.InParallel([]*Nested{l.Write, l.Read}, func(side *Nested) error {
		return side.Close(ctx)
	})
}

// acquire goes one level deeper into the read or the write lock, or acquires it.
func (l *ReadWrite) acquire(ctx context.Context, side *Nested, wait bool) (bool, error) {
	if !l.acquiring.CompareAndSwap(false, true) {
		return l.lockInner(ctx, side)
	}
	defer l.acquiring.Store(false)
	if side == l.Write && l.Write.Current() == nil {
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
	held := l.Read.Current()
	switch {
	case held == nil:
		return nil
	case held.Over():
		return ErrLost
	}
	return ErrUpgrade
}
