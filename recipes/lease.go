package recipes

import (
	"context"
	"errors"
	"slices"
)

// Lease is one of the leases of a Semaphore, held from Acquire to Release. Methods may be called
// from several goroutines.
type Lease struct {
	s       *Semaphore
	hold    *hold
	release *task[struct{}] // the release; guarded by the semaphore's mu; nil: not released
}

// Lost returns a channel that is closed when the lease has ended: because the own node is gone or
// was changed by another client, because the session has expired or was replaced, because the Conn
// was closed, because the connection has been down for too long, and by Release and Close.
//
// It is a hint, and can come late: see the limits in the package comment. Release a lease that was
// lost, too.
func (l *Lease) Lost() <-chan struct{} { return l.hold.ended }

// Token returns the czxid of the lease's node. Later leases have greater ones.
func (l *Lease) Token() int64 { return l.hold.token }

// Path returns the path of the lease's node.
func (l *Lease) Path() string { return l.hold.path }

// Release gives the lease back. It ends at once, and Lost is closed, before anything is sent; the
// delete of the node is repeated until the server has confirmed it.
//
// It returns nil when the server has confirmed that. If ctx is done before, also if it was done
// from the start, it returns an error after a moment, and the deletion goes on in the background
// until it is confirmed, refused, or the Conn is closed. Release again waits for the same.
func (l *Lease) Release(ctx context.Context) error {
	_, known, err := l.giveBack().await(ctx)
	return l.s.explain("release lease of", doubtOf(!known || errors.Is(err, ErrConnClosed), err))
}

// giveBack begins the release, once.
func (l *Lease) giveBack() *task[struct{}] {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.release != nil {
		return l.release
	}
	l.hold.end()
	l.s.held = slices.DeleteFunc(l.s.held, func(held *Lease) bool { return held == l })
	l.release = l.s.cleanUp(nil, l.hold.release)
	return l.release
}
