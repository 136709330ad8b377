package recipes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// follower keeps a view of the server up to date in the background, from the first look until
// Close. The recipes with a view embed it.
type follower[V any] struct {
	lifecycle
	loop    *task.Reconciler
	begin   func() error
	seen    task.LatestValue[seen[V]]
	session atomic.Int64 // of the latest complete view; 0: none yet

	epoch request.Epoch // used by the loop only: the epoch of the latest complete reading
}

// seen is a view or, before the first one, the reason why there is none.
type seen[V any] struct {
	view  V
	there bool
	err   error
	ended error // the reason why there will be no other view
}

// newFollower makes a follower. read reads the nodes that are due, and returns the whole view. A
// view that equals the last one does not count as a change.
func newFollower[V any](
	l *task.Group, read func(r *request.Sender, d task.Due) (V, error),
	same func(a, b V) bool,
) *follower[V] {
	f := &follower[V]{lifecycle: lifecycle{l}, loop: task.NewReconciler(l)}
	f.begin = sync.OnceValue(f.loop.Start)
	f.loop.Step = func(r *request.Sender, d task.Due) error {
		view, err := f.readDue(r, d, read)
		switch last, _ := f.seen.Read(); {
		case errors.Is(err, ErrConnClosed):
			f.finish(err)
		case err == nil && last.there && same(last.view, view):
		case err == nil:
			f.seen.Post(seen[V]{view: view, there: true})
		case !last.there:
			f.seen.Post(seen[V]{err: err})
		}
		if err == nil {
			f.session.Store(f.epoch.Session)
		}
		return err
	}
	return f
}

// readDue reads the nodes that are due. If all are due it synchronises first, as a server that lags
// behind could show an older state. The session must be the same after the read.
func (f *follower[V]) readDue(
	r *request.Sender, d task.Due,
	read func(r *request.Sender, d task.Due) (V, error),
) (view V, err error) {
	if d.All {
		if f.epoch, err = r.Synced(f.tasks.Path); err != nil {
			return view, err
		}
	}
	if view, err = read(r, d); err == nil {
		err = f.epoch.Check()
	}
	return view, err
}

// look returns the view. Before the first view it waits, and returns an error if the first read
// fails.
func (f *follower[V]) look(ctx context.Context, what string) (V, error) {
	s, err := task.Ask(ctx, f.tasks, what, func(r *request.Sender) (seen[V], error) {
		if err := f.begin(); err != nil {
			return seen[V]{}, err
		}
		return f.seen.Await(r.Ctx, func(s seen[V]) (bool, error) {
			switch {
			case s.ended != nil:
				return false, s.ended
			case errors.Is(s.err, request.ErrRestart):
				return false, nil
			}
			return s.there, s.err
		})
	})
	return s.view, err
}

// Changed returns a channel that is closed when the view changes or ends. The view ends with Close
// or with the Conn, and methods that return the view then return an error. Call Changed before you
// read the view, so that you miss no change.
func (f *follower[V]) Changed() <-chan struct{} {
	_, changed := f.seen.Read()
	return changed
}

// Stale reports whether the view may be out of date for one of these reasons: not all nodes were
// read yet in the present session, the client believes that the connection is down, the latest
// attempt to read has failed, or the view has ended. It knows nothing of notifications that are on
// their way.
func (f *follower[V]) Stale() bool {
	return f.loop.Stale(f.session.Load())
}

// Err returns the error of the latest attempt to read, a refusal of a single node included, or nil.
// The attempts go on.
func (f *follower[V]) Err() error { return f.tasks.Explain("read", f.loop.Failure()) }

// Close ends the view. It sends nothing, and leaves the Conn open.
func (f *follower[V]) Close(ctx context.Context) error {
	f.tasks.Cancel(ErrClosed)
	f.finish(ErrClosed)
	return f.tasks.Close(ctx)
}

// finish ends the view and wakes the waiters for a change.
func (f *follower[V]) finish(why error) {
	f.seen.End(func(last seen[V]) seen[V] {
		last.ended = why
		return last
	})
}
