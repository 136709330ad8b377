package recipes

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// reconciler is a background loop that keeps a node, or a copy of nodes, in the wanted state: a
// node that must exist, a cache, a view.
type reconciler struct {
	*wakeups
	unreadable
	// step handles the due paths, and arms the watches that wake the loop. It sends its requests
	// under ctx. After an error everything is due the next time. It need not repeat requests: r
	// repeats them. It tolerates the refusal of a single node.
	step func(ctx context.Context, r *requests, d due) error
	// last removes the nodes of step when the recipe is closed. It is nil if step makes no nodes.
	// It runs under context.Background().
	last func(r *requests) error

	state   sync.Mutex
	problem error
}

// newReconciler makes a loop. Set step, and last if needed, and start it.
func newReconciler(l *lifecycle) *reconciler { return &reconciler{wakeups: newWakeups(l)} }

// start runs the loop until the recipe or the Conn is closed.
func (c *reconciler) start() error { return c.l.background(c.run) }

// run is the loop. It ends with the recipe or the Conn, and with no other error.
func (c *reconciler) run(ctx context.Context, r *requests) {
	var failures backoff
	defer c.unreadable.end()
	for ctx.Err() == nil {
		d, err := c.next(ctx, c.l.opts.recheck)
		if err == nil {
			c.forget(d)
			err = c.step(ctx, r, d)
		}
		c.report(ctx, err)
		switch {
		case errors.Is(err, ErrConnClosed):
			return
		case err == nil:
			failures.reset()
			c.scheduleRetry(c.markDue)
		case failures.wait(ctx, r.opts.retry, err) == nil:
			c.markDue("")
		}
	}
	if c.last != nil {
		c.l.note(r.tidy(c.last))
	}
}

// report keeps the error of the latest step, unless the recipe is closed.
func (c *reconciler) report(ctx context.Context, err error) {
	c.state.Lock()
	defer c.state.Unlock()
	if ctx.Err() == nil && !errors.Is(err, errRestart) {
		c.problem = err
	}
}

// failure returns the error of the latest step, or else a tolerated refusal, or nil.
func (c *reconciler) failure() error {
	c.state.Lock()
	problem := c.problem
	c.state.Unlock()
	return cmp.Or(problem, c.first())
}

// stale reports whether a copy that was read in the given session may be out of date. Session 0
// stands for no copy. Notifications on their way do not count.
func (c *reconciler) stale(session int64) bool {
	conn := c.l.conn
	return session == 0 || c.l.closed() || conn.State() != zk.StateHasSession ||
		conn.SessionID() != session || c.failure() != nil
}
