package recipes

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

// turnstile competes in a queue of ephemeral sequential nodes. A node passes when the rule names no
// node to wait for. turnstile is a contender: give it to newHandle, or use acquire in the
// background. Locks, semaphores and elections differ in kind, markers and ahead.
type turnstile struct {
	dir     string
	kind    string   // the part before the number in the names of own nodes: "lock-"
	markers []string // of all nodes in the queue, kind among them
	opts    options
	ahead   passRule
}

// passRule returns the name of the node that queue[own] waits for, or "" if it may pass. queue is
// sorted oldest first, and contains every older live node. A rule names the one node that can
// change its answer, so that a release wakes few waiters. When that node ends or changes, the rule
// is called again.
type passRule func(queue []numbered, own int) string

// predecessor is the rule of a fair lock: each node waits for the node just ahead.
func predecessor(queue []numbered, own int) string {
	if own == 0 {
		return ""
	}
	return queue[own-1].name
}

// acquire makes attempts, each with its own name, until one succeeds.
func (q *turnstile) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return withRestarts(ctx, func() (*hold, error) { return q.attempt(ctx, r, wait) })
}

// withRestarts repeats attempts while they end with errRestart.
func withRestarts[T any](ctx context.Context, attempt func() (T, error)) (T, error) {
	var restarts backoff
	for {
		value, err := attempt()
		if !errors.Is(err, errRestart) {
			return value, err
		}
		if err := restarts.wait(ctx, nil, err); err != nil {
			return value, err
		}
	}
}

// attempt queues one node. If it gets no hold, it removes the node.
func (q *turnstile) attempt(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return queueUp(ctx, r, q.dir, q.kind, q.opts.data, func(own *protected) (*hold, error) {
		return q.waitForTurn(ctx, r, own, wait)
	})
}

// queueUp makes a node with a new name in dir, and calls stand to turn it into a hold. If stand
// returns no hold, queueUp removes the node.
func queueUp(
	ctx context.Context, r *requests, dir, kind string, data []byte,
	stand func(own *protected) (*hold, error),
) (*hold, error) {
	own, err := newProtected(dir, kind)
	if err != nil {
		return nil, err
	}
	err = own.create(ctx, r, data)
	if err == nil {
		var held *hold
		held, err = stand(own)
		if held != nil {
			return held, nil
		}
	}
	return nil, giveBack(r, err, own.remove)
}

// waitForTurn waits in the queue until the own node may pass.
func (q *turnstile) waitForTurn(
	ctx context.Context, r *requests, own *protected, wait bool,
) (*hold, error) {
	var watched string
	var watch <-chan zk.Event
	for {
		ahead, err := q.look(ctx, r, own)
		if err != nil {
			return nil, err
		}
		if ahead == "" {
			return confirm(ctx, r, own.path, own.remove)
		}
		if !wait {
			return nil, nil
		}
		if watch == nil || watched != ahead {
			n, err := r.getW(ctx, join(q.dir, ahead))
			if errors.Is(err, zk.ErrNoNode) {
				continue // gone between the list and the watch
			}
			if err != nil {
				return nil, err
			}
			if err := own.epoch.check(); err != nil {
				return nil, err // read in a new session: the own node is gone
			}
			watched, watch = ahead, n.watch
		}
		r.noteWaiting()
		fired, err := awaitEvent(ctx, watch, q.opts.recheck)
		if err != nil {
			return nil, err
		}
		if fired {
			watch = nil
		}
	}
}

// look returns the name of the node to wait for, or "" if there is none. A list with the own node
// contains every older live node, however far the server lags behind: the server has applied all
// earlier changes.
func (q *turnstile) look(ctx context.Context, r *requests, own *protected) (string, error) {
	names, err := r.children(ctx, q.dir)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "", errRestart
	case err != nil:
		return "", err
	case own.epoch.check() != nil:
		return "", errRestart
	}
	queue := sortNumbered(names, q.markers...)
	at := slices.IndexFunc(queue, func(n numbered) bool { return n.name == own.name() })
	if at < 0 {
		return "", errRestart
	}
	return q.ahead(queue, at), nil
}
