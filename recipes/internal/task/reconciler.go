package task

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Reconciler is a background loop that keeps a node, or a copy of nodes, in the wanted state: a
// node that must exist, a cache, a view.
type Reconciler struct {
	*wakeups
	refusedNodes
	// Step handles the due paths, and arms the watches that wake the loop. After an error
	// everything is due the next time. It need not repeat requests: r repeats them. It tolerates
	// the refusal of a single node.
	Step func(r *request.Sender, d Due) error
	// Last removes the nodes of Step when the recipe is closed. It is nil if Step makes no nodes.
	// It runs under context.Background().
	Last func(r *request.Sender) error

	state   sync.Mutex
	problem error
}

// NewReconciler makes a loop. Set Step, and Last if needed, and start it.
func NewReconciler(g *Group) *Reconciler { return &Reconciler{wakeups: newWakeups(g)} }

// Start runs the loop until the recipe or the Conn is closed.
func (c *Reconciler) Start() error { return c.group.Background(c.run) }

// run is the loop. It ends with the recipe or the Conn, and with no other error.
func (c *Reconciler) run(r *request.Sender) {
	var failures request.Backoff
	defer c.refusedNodes.end()
	for r.Ctx.Err() == nil {
		d, err := c.next(r.Ctx, c.group.Opts.Recheck)
		if err == nil {
			c.forget(d)
			err = c.Step(r, d)
		}
		c.report(r.Ctx, err)
		switch {
		case errors.Is(err, request.ErrConnClosed):
			return
		case err == nil:
			failures.Reset()
			c.scheduleRetry(c.MarkDue)
		case failures.Wait(r.Ctx, r.Opts.Retry, err) == nil:
			c.MarkDue("")
		}
	}
	if c.Last != nil {
		c.group.Note(r.Tidy(c.Last))
	}
}

// report keeps the error of the latest step, unless the recipe is closed.
func (c *Reconciler) report(ctx context.Context, err error) {
	c.state.Lock()
	defer c.state.Unlock()
	if ctx.Err() == nil && !errors.Is(err, request.ErrRestart) {
		c.problem = err
	}
}

// Failure returns the error of the latest step, or else a tolerated refusal, or nil.
func (c *Reconciler) Failure() error {
	c.state.Lock()
	problem := c.problem
	c.state.Unlock()
	return cmp.Or(problem, c.First())
}

// Stale reports whether a copy that was read in the given session may be out of date. Session 0
// stands for no copy. Notifications on their way do not count.
func (c *Reconciler) Stale(session int64) bool {
	conn := c.group.Conn
	return session == 0 || c.group.Closed() || conn.State() != zk.StateHasSession ||
		conn.SessionID() != session || c.Failure() != nil
}
