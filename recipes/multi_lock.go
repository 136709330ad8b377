package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// MultiLock holds several locks at once, or none. It is for work on several things that each have a
// lock. Use one MultiLock for each contender. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Each of the locks is a Lock. Other clients may contend for it alone.
//   - The locks are acquired in the order of their paths, not in the order of the arguments. So
//     MultiLocks that share paths cannot deadlock. A client that holds one of the locks through a
//     Lock, and waits for another one, must keep to that order, too.
//   - If Lock fails, it gives all locks back. If it loses one lock while it waits for the next, it
//     gives all back and begins again.
//   - Lost is closed when any of the locks is lost.
//   - A release wakes one waiter, as with Lock. Each lock is fair by itself, so a contender for few
//     locks may overtake a contender for many.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. It cannot
// guarantee that all locks are acquired at one moment: other clients see some of them held before
// Lock returns. Nor are all lost at one moment: after Lost is closed, some may be held until
// Unlock.
//
// To see the owner and the waiters of one of the locks, use Participants of a Lock at its path.
//
// Layout: that of Lock at each path.
//
// Sources: Curator's InterProcessMultiLock, which keeps the order that it is given; Havender's
// order against deadlocks.
type MultiLock struct {
	locks []*hold.Handle // in the order of their paths

	mu             sync.Mutex
	busy           bool          // an acquisition is under way
	releasePending bool          // as in handle
	lost           chan struct{} // of the present hold; nil: not held
	once           *sync.Once    // closes lost
}

// NewMultiLock makes a handle for the locks at paths. A path that is given twice counts once.
// Without a path Lock and TryLock return an error. Each path is created when needed and must be
// used for its lock only. It sends nothing. The options that matter are the same as for NewLock.
func NewMultiLock(conn Conn, paths []string, opts ...Option) *MultiLock {
	m, o := &MultiLock{}, request.NewOptions(opts)
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		line := newLockLine(path, o)
		m.locks = append(m.locks, hold.NewHandle(conn, path, o, line))
	}
	return m
}

// Lock waits until all locks are owned, ctx is done, or the server refuses a request. On an error
// it gives the acquired locks back and returns the first error. If ctx is done, it waits up to 100
// ms for the clean-up of the lock it was waiting for, and up to 100 ms for that of the others
// together. The rest of the clean-up goes on in the background. ErrHeld means that this handle
// holds the locks or is acquiring them. A lost hold does not count. It is given back first.
func (m *MultiLock) Lock(ctx context.Context) error {
	_, err := m.acquire(ctx, func(l *hold.Handle) (bool, error) { return true, l.Lock(ctx) })
	return err
}

// TryLock is Lock without the wait for other owners: it returns false if one of the locks has
// another owner. It does wait for the connection.
func (m *MultiLock) TryLock(ctx context.Context) (bool, error) {
	return m.acquire(ctx, func(l *hold.Handle) (bool, error) { return l.TryLock(ctx) })
}

// Unlock gives all locks back at the same time, each as Unlock of the type Lock does. Lost is
// closed at once. It returns the errors of all of them, or ErrNotHeld.
func (m *MultiLock) Unlock(ctx context.Context) error {
	m.mu.Lock()
	m.releasePending = m.releasePending || m.lost != nil
	if m.busy || !m.releasePending {
		m.mu.Unlock()
		return &request.OperationError{What: "unlock several", Err: ErrNotHeld}
	}
	m.endHold()
	m.mu.Unlock()
	err := m.giveBack(ctx)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.releasePending = false
	}
	return err
}

// Lost returns a channel that is closed when any of the locks is lost, and by Unlock and Close; see
// Lost of the type Lock. Each hold has its own channel. Without a hold the channel is closed
// already.
func (m *MultiLock) Lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost != nil {
		return m.lost
	}
	return hold.ClosedChannel()
}

// Token returns the fencing token of the lock at path. It returns 0 if that lock is not held or not
// part of this MultiLock. Tokens of different paths cannot be compared.
func (m *MultiLock) Token(path string) int64 {
	for _, l := range m.locks {
		if l.Tasks.Path == path {
			return l.Token()
		}
	}
	return 0
}

// String returns the states of the locks, for logs.
func (m *MultiLock) String() string {
	var all []string
	for _, l := range m.locks {
		all = append(all, l.String())
	}
	return strings.Join(all, "; ")
}

// Close ends an acquisition under way, gives all locks back and waits as Close of the type Lock
// does. Afterwards Lock and TryLock return ErrClosed.
func (m *MultiLock) Close(ctx context.Context) error {
	m.mu.Lock()
	m.endHold()
	m.mu.Unlock()
	return task.InParallel(m.locks, func(l *hold.Handle) error { return l.Close(ctx) })
}

// acquire gets all locks, or none.
func (m *MultiLock) acquire(
	ctx context.Context, lock func(*hold.Handle) (bool, error),
) (bool, error) {
	stale, err := m.begin()
	if err != nil {
		return false, &request.OperationError{What: "lock several", Err: err}
	}
	defer m.end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	life := m.locks[0].Tasks.Ctx // no caller waits for clean-up beyond Close
	defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
	if stale {
		if err := m.giveBack(ctx); err != nil {
			return false, err
		}
	}
	for {
		all, err := m.lockAll(lock)
		if err == nil && all && m.keep() {
			return true, nil
		}
		cleanUp := m.giveBack(ctx)
		if err != nil || !all {
			return false, err // Close reports errors of the remaining clean-up
		}
		if cleanUp != nil {
			return false, cleanUp
		}
	}
}

// lockAll locks one after the other.
func (m *MultiLock) lockAll(lock func(*hold.Handle) (bool, error)) (bool, error) {
	for _, l := range m.locks {
		if held, err := lock(l); err != nil || !held {
			return false, err
		}
	}
	return true, nil
}

// keep begins a hold, unless one of the locks was lost already. The first lock that is lost ends
// the hold.
func (m *MultiLock) keep() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	var holds []*hold.Hold
	for _, l := range m.locks {
		if l.IsFree() {
			return false
		}
		holds = append(holds, l.Current())
	}
	lost, once := make(chan struct{}), &sync.Once{}
	m.lost, m.once = lost, once
	for i, held := range holds {
		m.locks[i].Tasks.BeginCleanUp()
		go func() {
			defer m.locks[i].Tasks.End()
			<-held.Ended
			once.Do(func() { close(lost) })
		}()
	}
	return true
}

// endHold ends the present hold, if there is one. The caller has locked mu.
func (m *MultiLock) endHold() {
	if m.lost != nil {
		lost := m.lost
		m.once.Do(func() { close(lost) })
		m.lost = nil
	}
}

// giveBack unlocks all held locks at once. Only the order of acquisition matters for deadlocks.
func (m *MultiLock) giveBack(ctx context.Context) error {
	return task.InParallel(m.locks, func(l *hold.Handle) error { return l.Release(ctx) })
}

// begin begins an acquisition unless the locks are held. stale reports that some of the locks may
// still be held from a lost hold.
func (m *MultiLock) begin() (stale bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(m.locks) == 0:
		return false, errors.New("no path was given; expected one at least")
	case m.busy:
		return false, ErrHeld
	}
	if stale = m.lost != nil; stale && !slices.ContainsFunc(m.locks, (*hold.Handle).IsFree) {
		return false, ErrHeld
	}
	m.endHold()
	m.busy, m.releasePending = true, false
	return stale, nil
}

func (m *MultiLock) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = false
}
