package recipes

import "context"

// Locker is what the locks of this package have in common whose Lock waits: Lock,
// HerdLock, ClientLock, ReentrantLock, RevocableLock, MultiLock, TurnQueue, and the
// write locks of RWLock and VersionRWLock. Lock of a WriteLock does not wait, and a
// Semaphore has leases.
//
// Lock returns nil when the caller owns the lock. Unlock gives it back.
type Locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// Queuer is what the first-in-first-out queues of this package have in common whose
// elements are no more than their data: Queue and ApacheQueue. Those of
// PriorityQueue, DelayQueue and IDQueue are offered with something that says when
// they leave, and LockQueue returns deliveries.
//
// Offer appends an element. Poll removes and returns the first one, Peek
// returns it without removing it; both return false when the queue is empty.
// Take is Poll that waits for an element.
type Queuer interface {
	Offer(ctx context.Context, data []byte) error
	Peek(ctx context.Context) (data []byte, ok bool, err error)
	Poll(ctx context.Context) (data []byte, ok bool, err error)
	Take(ctx context.Context) ([]byte, error)
}

var (
	_ Locker = (*Lock)(nil)
	_ Locker = (*HerdLock)(nil)
	_ Locker = (*ReentrantLock)(nil)
	_ Locker = (*RevocableLock)(nil)
	_ Locker = (*MultiLock)(nil)
	_ Locker = (*TurnQueue)(nil)
	_ Locker = (*RWLock)(nil)
	_ Locker = (*VersionRWLock)(nil)
	_ Queuer = (*Queue)(nil)
)
