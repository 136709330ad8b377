package recipes

import "context"

// Locker is what every lock of this package can do: Lock, HerdLock and
// ClientLock.
//
// Lock returns nil when the caller owns the lock. Unlock gives it back.
type Locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// Queuer is what every queue of this package can do: Queue and ApacheQueue.
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
	_ Locker = (*ClientLock)(nil)
	_ Queuer = (*Queue)(nil)
	_ Queuer = (*ApacheQueue)(nil)
)
