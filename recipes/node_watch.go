package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// nodeWatch keeps at most one watch on one node. The client cannot take a watch back, so one that
// has not fired is used again, also by a later call or another goroutine: it was set before they
// look. One nodeWatch is for one way to look: children, data or existence.
//
// A watch is a hint. Look, decide on the result, wait for the watch of that look, and look again:
//
//	err := v.until(ctx, r, epoch{}, func() (w *watch, done bool, err error) {
//		names, w, err := v.children(ctx, r)
//		return w, len(names) == 0, err
//	})
//
// To wait for the newest watch instead would be wrong: another goroutine may have taken note of the
// event, and set a watch that knows nothing of it.
type nodeWatch struct {
	path string

	mu    sync.Mutex
	watch *watch // nil: none is set
}

// until looks until look is done or fails: at once, and after each event, each recheck and each end
// of a session.
//
// Reads in the session of since are not older than the caller's knowledge. The server of another
// session may lag behind: there it looks only after a sync. With the zero epoch it begins with one.
func (v *nodeWatch) until(
	ctx context.Context, r *requests, since epoch, look func() (w *watch, done bool, err error),
) error {
	for {
		if since.check() != nil {
			var err error
			if since, err = r.synced(ctx, v.path); err != nil {
				return err
			}
		}
		w, done, err := look()
		switch {
		case err != nil:
			return err
		case since.check() != nil:
			continue
		case done:
			return nil
		}
		r.waits()
		if err := w.wait(ctx, r.opts.recheck); err != nil {
			return err
		}
	}
}

// children lists the names of the node's children, and returns the watch that the next change of
// them fires.
func (v *nodeWatch) children(
	ctx context.Context, r *requests,
) (names []string, w *watch, err error) {
	if w = v.current(); w != nil {
		names, err = r.children(ctx, v.path)
		return names, v.reuse(w, err), err
	}
	names, events, err := r.childrenW(ctx, v.path)
	return names, v.keep(events, err), err
}

// data reads the node, and returns the watch that its next change fires.
func (v *nodeWatch) data(
	ctx context.Context, r *requests,
) (data []byte, stat *zk.Stat, w *watch, err error) {
	if w = v.current(); w != nil {
		data, stat, err = r.get(ctx, v.path)
		return data, stat, v.reuse(w, err), err
	}
	n, err := r.getW(ctx, v.path)
	return n.data, n.stat, v.keep(n.watch, err), err
}

// existence returns the node's stat, or nil if there is none, and the watch that its next change or
// its creation fires.
func (v *nodeWatch) existence(
	ctx context.Context, r *requests,
) (stat *zk.Stat, w *watch, err error) {
	if w = v.current(); w != nil {
		stat, err = r.exists(ctx, v.path)
		return stat, v.reuse(w, err), err
	}
	stat, events, err := r.existsW(ctx, v.path)
	return stat, v.keep(events, err), err
}

// wait waits for a reason to look again. The end of a session is one; only the end of ctx and of
// the Conn are errors.
func (w *watch) wait(ctx context.Context, recheck time.Duration) error {
	_, err := w.await(ctx, recheck)
	if errors.Is(err, errRestart) {
		return nil // to be looked at in the new session
	}
	return err
}

// current returns the watch that is set, nil if there is none.
func (v *nodeWatch) current() *watch {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.watch
}

// keep keeps the watch that a look has set, if it has.
func (v *nodeWatch) keep(events <-chan zk.Event, err error) *watch {
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watch = newWatch(events)
	v.watch.spent = v.forget
	return v.watch
}

// forget begins anew: the event of any watch on the node has fired all of them. Two goroutines that
// look at the same time set one each, and whether the other has received its event already must not
// decide whether a look sets a watch.
func (v *nodeWatch) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watch = nil
}

// reuse returns the watch of a look that has set none. On a missing node it has fired.
func (v *nodeWatch) reuse(w *watch, err error) *watch {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errors.Is(err, zk.ErrNoNode) && v.watch == w {
		v.watch = nil
	}
	return w
}
