package recipes

import (
	"context"
	"errors"
	"slices"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Lease is one of the leases of a Semaphore, held from Acquire to Release. Methods may be called
// from several goroutines.
type Lease struct {
	s       *Semaphore
	hold    *hold.Hold
	release *task.Task[struct{}] // nil: not released; guarded by the semaphore's mu
}

// Lost returns a channel that is closed when the lease has ended. The causes are Release, Close, a
// node that another client has deleted or changed, a session that has expired or was replaced, a
// closed Conn, and a connection that was down for too long.
//
// It is a hint, and can come late: see the limits in the package comment. A lost lease must be
// released, too.
func (l *Lease) Lost() <-chan struct{} { return l.hold.Ended }

// Token returns the czxid of the lease's node. Later leases have greater ones.
func (l *Lease) Token() int64 { return l.hold.Token }

// Path returns the path of the lease's node.
func (l *Lease) Path() string { return l.hold.Path }

// Release gives the lease back. It ends the lease and closes Lost before the first request. The
// deletion of the node is repeated until the server has confirmed it.
//
// Release returns nil after the confirmation. If ctx is done first, or from the start, it returns
// an error after a moment. The deletion then goes on in the background until the server confirms or
// refuses it, or the Conn is closed. A second call of Release waits for the same deletion.
func (l *Lease) Release(ctx context.Context) error {
	_, known, err := l.giveBack().Await(ctx)
	err = request.AmbiguousIf(!known || errors.Is(err, ErrConnClosed), err)
	return l.s.tasks.Explain("release lease of", err)
}

// giveBack begins the release, once.
func (l *Lease) giveBack() *task.Task[struct{}] {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.release != nil {
		return l.release
	}
	l.hold.End()
	l.s.held = slices.DeleteFunc(l.s.held, func(held *Lease) bool { return held == l })
	l.release = l.s.tasks.CleanUp(nil, l.hold.Release)
	return l.release
}
