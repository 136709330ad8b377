package classic

import (
	"context"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
)

// handle is embedded by the locks with one hold for each handle. The comments of recipes.Lock say
// what its methods guarantee.
type handle struct{ core *hold.Handle }

// Lock is Lock of the type recipes.Lock.
func (h *handle) Lock(ctx context.Context) error { return h.core.Lock(ctx) }

// TryLock is TryLock of the type recipes.Lock.
func (h *handle) TryLock(ctx context.Context) (bool, error) { return h.core.TryLock(ctx) }

// Unlock is Unlock of the type recipes.Lock.
func (h *handle) Unlock(ctx context.Context) error { return h.core.Unlock(ctx) }

// Do is Do of the type recipes.Lock.
func (h *handle) Do(ctx context.Context, work func(ctx context.Context, token int64) error) error {
	return h.core.Do(ctx, work)
}

// Lost is Lost of the type recipes.Lock.
func (h *handle) Lost() <-chan struct{} { return h.core.Lost() }

// Token is Token of the type recipes.Lock.
func (h *handle) Token() int64 { return h.core.Token() }

// Path returns the path of the own node, or "" without a hold.
func (h *handle) Path() string { return h.core.Path() }

// String returns the path and whether the lock is held, for logs.
func (h *handle) String() string { return h.core.String() }

// Close is Close of the type recipes.Lock.
func (h *handle) Close(ctx context.Context) error { return h.core.Close(ctx) }

// readWrite is embedded by the read-write lock. The comments of recipes.RWLock say what its methods
// guarantee.
type readWrite struct{ core *hold.ReadWrite }

// Lock is Lock of the type recipes.RWLock.
func (l *readWrite) Lock(ctx context.Context) error { return l.core.Lock(ctx) }

// TryLock is TryLock of the type recipes.RWLock.
func (l *readWrite) TryLock(ctx context.Context) (bool, error) { return l.core.TryLock(ctx) }

// Unlock is Unlock of the type recipes.RWLock.
func (l *readWrite) Unlock(ctx context.Context) error { return l.core.Write.Unlock(ctx) }

// RLock is RLock of the type recipes.RWLock.
func (l *readWrite) RLock(ctx context.Context) error { return l.core.RLock(ctx) }

// TryRLock is TryRLock of the type recipes.RWLock.
func (l *readWrite) TryRLock(ctx context.Context) (bool, error) { return l.core.TryRLock(ctx) }

// RUnlock is RUnlock of the type recipes.RWLock.
func (l *readWrite) RUnlock(ctx context.Context) error { return l.core.Read.Unlock(ctx) }

// Do is Do of the type recipes.RWLock.
func (l *readWrite) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.Do(ctx, work)
}

// RDo is RDo of the type recipes.RWLock.
func (l *readWrite) RDo(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.RDo(ctx, work)
}

// Lost is Lost of the type recipes.RWLock.
func (l *readWrite) Lost() <-chan struct{} { return l.core.Write.Lost() }

// RLost is RLost of the type recipes.RWLock.
func (l *readWrite) RLost() <-chan struct{} { return l.core.Read.Lost() }

// Token is Token of the type recipes.RWLock.
func (l *readWrite) Token() int64 { return l.core.Write.Token() }

// RToken is RToken of the type recipes.RWLock.
func (l *readWrite) RToken() int64 { return l.core.Read.Token() }

// Path returns the path of the node of the write lock, or "" if it is not held.
func (l *readWrite) Path() string { return l.core.Write.Path() }

// RPath returns the path of the node of the read lock, or "" if it is not held.
func (l *readWrite) RPath() string { return l.core.Read.Path() }

// String returns the states of both locks, for logs.
func (l *readWrite) String() string { return l.core.String() }

// Close is Close of the type recipes.RWLock.
func (l *readWrite) Close(ctx context.Context) error { return l.core.Close(ctx) }

func members(list []hold.Participant) (members []recipes.Member) {
	for _, p := range list {
		members = append(members, recipes.Member(p))
	}
	return members
}
