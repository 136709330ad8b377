package request

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// NodeWatch keeps at most one watch on one node. The client cannot take a watch back, so a watch
// that has not fired is used again, by later calls and by other goroutines. It was set before their
// reads. One NodeWatch is for one kind of read: children, data or existence.
//
// A watch is a hint. Read, decide on the result, wait for the watch of that read, and read again:
//
//	err := v.Until(r, Epoch{}, func() (w *Watch, done bool, err error) {
//		names, w, err := v.Children(r)
//		return w, len(names) == 0, err
//	})
//
// Waiting for the newest watch instead would be wrong: another goroutine may have received the
// event and have set a new watch since, which does not fire for that event.
type NodeWatch struct {
	Path string

	mu    sync.Mutex
	watch *Watch // nil: none is set
}

// Until calls look until it is done or fails: at once, and after each event, each recheck and each
// end of a session.
//
// If the session is still since, the first read needs nothing before it. In a new session, whose
// server may lag, Until confirms first; likewise with the zero epoch. See [Sender.Confirm].
func (v *NodeWatch) Until(
	r *Sender, since Epoch, look func() (w *Watch, done bool, err error),
) error {
	for {
		if since.Check() != nil {
			var err error
			if since, err = r.Confirmed(v.Path); err != nil {
				return err
			}
		}
		w, done, err := look()
		switch {
		case err != nil:
			return err
		case since.Check() != nil:
			continue
		case done:
			return nil
		}
		r.NoteWaiting()
		if err := w.Wait(r.Ctx, r.Opts.Recheck); err != nil {
			return err
		}
	}
}

// Children lists the names of the node's children. The next change of the children fires the
// returned watch.
func (v *NodeWatch) Children(r *Sender) (names []string, w *Watch, err error) {
	if w = v.current(); w != nil {
		names, err = r.Children(v.Path)
		return names, v.reuse(w, err), err
	}
	names, events, err := r.ChildrenW(v.Path)
	return names, v.keep(events, err), err
}

// Data reads the node. The next change of the node fires the returned watch.
func (v *NodeWatch) Data(r *Sender) (data []byte, stat *zk.Stat, w *Watch, err error) {
	if w = v.current(); w != nil {
		data, stat, err = r.Get(v.Path)
		return data, stat, v.reuse(w, err), err
	}
	n, err := r.GetW(v.Path)
	return n.Data, n.Stat, v.keep(n.Watch, err), err
}

// Existence returns the node's stat, or nil if there is no node. The next change or creation of the
// node fires the returned watch.
func (v *NodeWatch) Existence(r *Sender) (stat *zk.Stat, w *Watch, err error) {
	if w = v.current(); w != nil {
		stat, err = r.Exists(v.Path)
		return stat, v.reuse(w, err), err
	}
	stat, events, err := r.ExistsW(v.Path)
	return stat, v.keep(events, err), err
}

// Wait waits for a reason to look again. The end of a session is such a reason. The end of ctx and
// the end of the Conn are errors.
func (w *Watch) Wait(ctx context.Context, recheck time.Duration) error {
	_, err := w.await(ctx, recheck)
	if errors.Is(err, ErrRestart) {
		return nil // to be looked at in the new session
	}
	return err
}

// current returns the watch that is set, or nil.
func (v *NodeWatch) current() *Watch {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.watch
}

// keep stores the watch of a successful read.
func (v *NodeWatch) keep(events <-chan zk.Event, err error) *Watch {
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watch = newWatch(events)
	v.watch.onFire = v.forget
	return v.watch
}

// forget drops the watch, also if the event came from an older one: one event fires all watches on
// the node. Two goroutines that look at the same time set one watch each. The next look must set a
// new watch, even if the second goroutine has not received its event yet.
func (v *NodeWatch) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watch = nil
}

// reuse returns the watch of a read that has set none. If the node is missing, that watch has
// fired.
func (v *NodeWatch) reuse(w *Watch, err error) *Watch {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errors.Is(err, zk.ErrNoNode) && v.watch == w {
		v.watch = nil
	}
	return w
}
