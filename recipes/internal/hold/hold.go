// Package hold is about ownership: a Hold is one period of it, from the confirmation by the server
// to its end; a Turnstile is a queue of contenders; a Handle is a lock with one hold at a time.
package hold

import (
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Hold is one period of ownership. It begins with the confirmation by the server and ends when it
// is given back or lost.
type Hold struct {
	Path    string // own node
	conn    request.Conn
	Session int64
	Token   int64 // czxid of the own node
	Watch   <-chan zk.Event
	Release func(r *request.Sender) error // gives the lock back on the server
	Ended   chan struct{}                 // closed when the hold has ended

	waited time.Duration // time spent on other clients; 0 without an observer
	once   sync.Once     // closes Ended
	lost   bool          // ended without being given back; may be read once Ended is closed
}

// Confirm reads and watches the own node at path and returns a hold if it exists and belongs to the
// session that the connection has now. Otherwise it returns request.ErrRestart.
func Confirm(r *request.Sender, path string, release func(r *request.Sender) error) (*Hold, error) {
	own, err := r.GetW(path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, request.ErrRestart
	case err != nil:
		return nil, err
	}
	return Of(r, path, own, release)
}

// Of returns a hold for the own node at path as it was just read, or request.ErrRestart if it
// belongs to another session than the current one.
func Of(
	r *request.Sender, path string, own request.Node, release func(r *request.Sender) error,
) (*Hold, error) {
	owner := own.Stat.EphemeralOwner
	if owner == 0 || owner != r.Conn.SessionID() {
		return nil, request.ErrRestart
	}
	return &Hold{
		Path:    path,
		conn:    r.Conn,
		Session: owner,
		Token:   own.Stat.Czxid,
		Watch:   own.Watch,
		Release: release,
		waited:  r.Waited(),
		Ended:   make(chan struct{}),
	}, nil
}

// End closes Ended. Repeated calls have no effect.
func (h *Hold) End() { h.once.Do(func() { close(h.Ended) }) }

// lose is End for a hold that was lost.
func (h *Hold) lose() {
	h.once.Do(func() {
		h.lost = true
		close(h.Ended)
	})
}

// Gone reports whether the watch on the own node has fired. It is for holds without a guard.
func (h *Hold) Gone() bool {
	select {
	case <-h.Watch:
		return true
	default:
		return false
	}
}

// Over reports whether the hold has ended. If the Conn has another session, Over ends the hold, as
// guard may not have noticed yet.
func (h *Hold) Over() bool {
	select {
	case <-h.Ended:
		return true
	default:
	}
	if h.conn.SessionID() == h.Session {
		return false
	}
	h.lose()
	return true
}

// guard ends the hold when ownership is lost, and returns when the hold has ended. It only waits
// and looks, and sends no request. Only the holder may change its node, so guard takes any event on
// it for the loss.
func (h *Hold) guard(timeout time.Duration) {
	look, stop := request.LookTicker(timeout)
	defer stop()
	seen := request.NewLiveness(h.Session, timeout)
	for {
		select {
		case <-h.Ended:
			return
		case <-h.Watch:
			h.lose()
			return
		case <-look:
			if seen.Look(h.conn) == request.ConnLost {
				h.lose()
				return
			}
		}
	}
}

// ClosedChannel returns the channel that Lost returns without a hold.
func ClosedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// WatchOver guards a hold in the background until the hold has ended. Close waits for the guard, so
// Close must end the hold first.
func (h *Hold) WatchOver(tasks *task.Group) {
	tasks.BeginCleanUp()
	go func() {
		defer tasks.End()
		h.observe(tasks)
	}()
}

// observe reports the beginning of the hold, guards it, and reports the end.
func (h *Hold) observe(tasks *task.Group) {
	began := time.Now()
	tasks.Opts.Tell(request.Event{Kind: request.EventGrant, Path: tasks.Path, Took: h.waited})
	h.guard(tasks.Opts.SessionTimeout)
	kind := request.EventRelease
	if h.lost {
		kind = request.EventLoss
	}
	tasks.Opts.Tell(request.Event{Kind: kind, Path: tasks.Path, Took: time.Since(began)})
}
