package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// hold is one period of ownership. It begins with the confirmation by the server and ends when it
// is given back or lost.
type hold struct {
	path    string // own node
	conn    Conn
	session int64
	token   int64 // czxid of the own node
	watch   <-chan zk.Event
	release func(r *requests) error // gives the lock back on the server

	waited time.Duration // time spent on other clients; 0 without an observer

	once  sync.Once
	ended chan struct{}
	lost  bool // ended without being given back; may be read once ended is closed
}

// confirm reads and watches the own node at path and returns a hold if it exists and belongs to the
// session that the connection has now. Otherwise it returns errRestart.
func confirm(
	ctx context.Context, r *requests, path string, release func(r *requests) error,
) (*hold, error) {
	own, err := r.getW(ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, errRestart
	case err != nil:
		return nil, err
	}
	return holdOf(r, path, own, release)
}

// holdOf returns a hold for the own node at path as it was just read, or errRestart if it belongs
// to another session than the current one.
func holdOf(r *requests, path string, own node, release func(r *requests) error) (*hold, error) {
	owner := own.stat.EphemeralOwner
	if owner == 0 || owner != r.conn.SessionID() {
		return nil, errRestart
	}
	return &hold{
		path:    path,
		conn:    r.conn,
		session: owner,
		token:   own.stat.Czxid,
		watch:   own.watch,
		release: release,
		waited:  r.waited(),
		ended:   make(chan struct{}),
	}, nil
}

// end closes ended. Repeated calls have no effect.
func (h *hold) end() { h.once.Do(func() { close(h.ended) }) }

// lose is end for a hold that was lost.
func (h *hold) lose() {
	h.once.Do(func() {
		h.lost = true
		close(h.ended)
	})
}

// gone reports whether the watch on the own node has fired. It is for holds without a guard.
func (h *hold) gone() bool {
	select {
	case <-h.watch:
		return true
	default:
		return false
	}
}

// over reports whether the hold has ended. If the Conn has another session, over ends the hold, as
// guard may not have noticed yet.
func (h *hold) over() bool {
	select {
	case <-h.ended:
		return true
	default:
	}
	if h.conn.SessionID() == h.session {
		return false
	}
	h.lose()
	return true
}

// guard ends the hold when ownership is lost, and returns when the hold has ended. It only waits
// and looks, and sends no request. Only the holder may change its node, so guard takes any event on
// it for the loss.
func (h *hold) guard(timeout time.Duration) {
	look, stop := lookTicker(timeout)
	defer stop()
	seen := newLiveness(h.session, timeout)
	for {
		select {
		case <-h.ended:
			return
		case <-h.watch:
			h.lose()
			return
		case <-look:
			if seen.look(h.conn) == StateLost {
				h.lose()
				return
			}
		}
	}
}

// closedChannel returns the channel that Lost returns without a hold.
func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// watchOver guards a hold in the background until the hold has ended. Close waits for the guard, so
// Close must end the hold first.
func (l *lifecycle) watchOver(held *hold) {
	l.beginCleanUp()
	go func() {
		defer l.end()
		l.observe(held, func() { held.guard(l.opts.sessionTimeout) })
	}()
}

// giveBack removes the nodes of an attempt that ended with err, unless the Conn is closed: then
// ephemeral nodes go with the session. It returns err, the error of the removal, or both; see
// firstOf.
func giveBack(r *requests, err error, remove func(r *requests) error) error {
	if errors.Is(err, ErrConnClosed) {
		return err
	}
	return firstOf(err, r.tidy(remove))
}

// firstOf returns err together with the error of the clean-up. An error of the clean-up replaces
// errRestart: without clean-up there must be no new attempt.
func firstOf(err, cleanup error) error {
	switch {
	case cleanup == nil:
		return err
	case err == nil || errors.Is(err, errRestart):
		return cleanup
	}
	return errors.Join(err, cleanup)
}
