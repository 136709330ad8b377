package hold

import (
	"context"
	"errors"
)

// ErrLost says that the hold was lost.
var ErrLost = errors.New("lock was lost while it was held")

// Nested is a handle that its owner may lock several times. The lock is given back by the last of
// as many unlocks. All levels belong to one hold and end with it: a counter that outlived the
// session would grant a lock without a znode.
type Nested struct {
	*Handle
	of          *Hold // guarded by the handle's mu, as innerLevels is
	innerLevels int   // levels of that hold besides the first
}

// NewNested makes a handle re-entrant.
func NewNested(h *Handle) *Nested { return &Nested{Handle: h} }

// Lock goes one level deeper at once if the lock is held. Otherwise it waits for the lock.
func (n *Nested) Lock(ctx context.Context) error {
	_, err := n.lock(ctx, true)
	return n.Tasks.Explain("lock", err)
}

// TryLock is Lock without the wait for another owner.
func (n *Nested) TryLock(ctx context.Context) (bool, error) {
	held, err := n.lock(ctx, false)
	return held, n.Tasks.Explain("try lock", err)
}

// again goes one level deeper if the lock is held, and reports whether it is held. It sends no
// request. It returns ErrLost if the lock was lost.
func (n *Nested) again() (held bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.hold == nil:
		return false, nil
	case n.hold.Over():
		return true, ErrLost
	case n.of != n.hold:
		n.of, n.innerLevels = n.hold, 0
	}
	n.innerLevels++
	return true, nil
}

// lock goes one level deeper, or acquires the lock if it is not held.
func (n *Nested) lock(ctx context.Context, wait bool) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if held, err := n.again(); held {
		return err == nil, err
	}
	return n.acquire(ctx, wait)
}

// Unlock leaves the innermost level. Leaving the last level gives the lock back.
func (n *Nested) Unlock(ctx context.Context) error {
	if n.leave() {
		return nil
	}
	return n.Handle.Unlock(ctx)
}

// leave leaves a level if it is not the last one.
func (n *Nested) leave() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hold == nil || n.of != n.hold || n.innerLevels == 0 {
		return false
	}
	n.innerLevels--
	return true
}
