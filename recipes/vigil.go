package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// vigil keeps at most one watch on one node. The client cannot take a watch
// back, so one that has not fired is used again, also by a later call or
// another goroutine: it was set before they look. One vigil is for one way to
// look: children, data or existence.
//
// A watch is a hint. Look, decide on what was read, wait, and look again:
//
//	err := v.until(ctx, r, func() (done bool, err error) {
//		names, err := v.children(ctx, r)
//		return len(names) == 0, err
//	})
type vigil struct {
	path string

	mu    sync.Mutex
	watch <-chan zk.Event // nil: none is set
}

// until looks until look is done or fails: at once, and after each event, each
// recheck and each end of a session. A look that must not outlive the session
// checks its epoch.
func (v *vigil) until(ctx context.Context, r *requests, look func() (done bool, err error)) error {
	for {
		if done, err := look(); err != nil || done {
			return err
		}
		if err := v.wait(ctx, r.opts.recheck); err != nil {
			return err
		}
	}
}

// children lists the names of the node's children.
func (v *vigil) children(ctx context.Context, r *requests) (names []string, err error) {
	watch := v.current()
	if watch == nil {
		names, watch, err = r.childrenW(ctx, v.path)
	} else {
		names, err = r.children(ctx, v.path)
	}
	v.keep(watch, err)
	return names, err
}

// data reads the node.
func (v *vigil) data(ctx context.Context, r *requests) (data []byte, stat *zk.Stat, err error) {
	watch := v.current()
	if watch == nil {
		var n node
		n, err = r.getW(ctx, v.path)
		data, stat, watch = n.data, n.stat, n.watch
	} else {
		data, stat, err = r.get(ctx, v.path)
	}
	v.keep(watch, err)
	return data, stat, err
}

// existence returns the node's stat, or nil if there is none.
func (v *vigil) existence(ctx context.Context, r *requests) (stat *zk.Stat, err error) {
	watch := v.current()
	if watch == nil {
		stat, watch, err = r.existsW(ctx, v.path)
	} else {
		stat, err = r.exists(ctx, v.path)
	}
	v.keep(watch, err)
	return stat, err
}

// wait waits for a reason to look again. The end of a session is one; only the
// end of ctx and of the Conn are errors.
func (v *vigil) wait(ctx context.Context, recheck time.Duration) error {
	watch := v.current()
	fired, err := awaitEvent(ctx, watch, recheck)
	if fired {
		v.forget(watch)
	}
	if errors.Is(err, errRestart) {
		return nil // to be looked at in the new session
	}
	return err
}

func (v *vigil) current() <-chan zk.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.watch
}

// keep keeps the watch of a look. One on a node that is missing has fired, or
// was not set.
func (v *vigil) keep(watch <-chan zk.Event, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err == nil:
		v.watch = watch
	case errors.Is(err, zk.ErrNoNode):
		v.watch = nil
	}
}

// forget drops a watch that has fired, unless another was set meanwhile.
func (v *vigil) forget(watch <-chan zk.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watch == watch {
		v.watch = nil
	}
}

// awaitEvent waits for a watch. It reports false if it is time to look again
// without an event. A watch that ends with the session means errRestart. Of an
// event that is there already and a context that is done the event counts: a
// select alone would choose between them at random.
func awaitEvent(ctx context.Context, watch <-chan zk.Event, recheck time.Duration) (fired bool, err error) {
	select {
	case ev := <-watch:
		return true, watchError(ev)
	default:
	}
	var again <-chan time.Time
	if recheck > 0 {
		timer := time.NewTimer(recheck)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-again:
		return false, nil
	case ev := <-watch:
		return true, watchError(ev)
	}
}

// watchError is what the event of a watch means to a waiter: nil if it is to
// look again.
func watchError(ev zk.Event) error {
	switch {
	case errors.Is(ev.Err, zk.ErrClosing):
		return ErrConnClosed
	case ev.Err != nil:
		return errRestart
	}
	return nil
}
