package recipes

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// follower is what recipes embed that show a view of the server: it keeps the
// view up to date in the background, from the first look on until Close.
type follower[V any] struct {
	*lifecycle
	loop  *reconciler
	begin func() error
	seen  posted[seen[V]]
}

// seen is a view, once there is one, and otherwise why there is none.
type seen[V any] struct {
	view  V
	there bool
	err   error
}

// newFollower makes a follower. read reads what is due, and returns the whole
// view. A view that is the same as the last is no change.
func newFollower[V any](l *lifecycle, read func(ctx context.Context, r *requests, d due) (V, error), same func(a, b V) bool) *follower[V] {
	f := &follower[V]{lifecycle: l, loop: newReconciler(l)}
	f.begin = sync.OnceValue(f.loop.start)
	f.loop.step = func(ctx context.Context, r *requests, d due) error {
		view, err := read(ctx, r, d)
		switch last, _ := f.seen.read(); {
		case err == nil && last.there && same(last.view, view):
		case err == nil:
			f.seen.post(seen[V]{view: view, there: true})
		case !last.there:
			f.seen.post(seen[V]{err: err})
		}
		return err
	}
	return f
}

// look returns the view. It waits for the first one, for which the server may
// be asked in vain.
func (f *follower[V]) look(ctx context.Context, what string) (V, error) {
	s, err := ask(ctx, f.lifecycle, what, func(ctx context.Context, _ *requests) (seen[V], error) {
		if err := f.begin(); err != nil {
			return seen[V]{}, err
		}
		return f.seen.await(ctx, func(s seen[V]) (bool, error) {
			if errors.Is(s.err, errRestart) {
				return false, nil
			}
			return s.there, s.err
		})
	})
	return s.view, err
}

// Changed returns a channel that is closed when the view changes. Get it before
// you look, so that no change is missed.
func (f *follower[V]) Changed() <-chan struct{} {
	_, changed := f.seen.read()
	return changed
}

// Stale reports whether the view may be out of date without anybody hearing of
// it: the connection is down, or the latest attempt to read has failed. A view
// that is not stale lags behind by the way of a notification and a reply.
func (f *follower[V]) Stale() bool {
	return f.conn.State() != zk.StateHasSession || f.loop.failure() != nil
}
