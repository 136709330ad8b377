package hold

import (
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Turnstile competes in a queue of ephemeral sequential nodes. A node passes when the rule names no
// node to wait for. A Turnstile is a contender: give it to NewHandle, or use Acquire in the
// background. Locks, semaphores and elections differ in Kind, Markers and Ahead.
type Turnstile struct {
	Dir     string
	Kind    string   // the part before the number in the names of own nodes: "lock-"
	Markers []string // of all nodes in the queue, Kind among them
	Opts    request.Options
	Ahead   Rule
}

// Rule returns the name of the node that queue[own] waits for, or "" if it may pass. queue is
// sorted oldest first, and contains every older live node. A rule names the one node that can
// change its answer, so that a release wakes few waiters. When that node ends or changes, the rule
// is called again.
type Rule func(queue []request.Numbered, own int) string

// Predecessor is the rule of a fair lock: each node waits for the node just ahead.
func Predecessor(queue []request.Numbered, own int) string {
	if own == 0 {
		return ""
	}
	return queue[own-1].Name
}

// Acquire makes attempts, each with its own name, until one succeeds.
func (q *Turnstile) Acquire(r *request.Sender, wait bool) (*Hold, error) {
	return request.WithRestarts(r, func() (*Hold, error) { return q.attempt(r, wait) })
}

// attempt queues one node. If it gets no hold, it removes the node.
func (q *Turnstile) attempt(r *request.Sender, wait bool) (*Hold, error) {
	return QueueUp(r, q.Dir, q.Kind, q.Opts.Data, func(own *request.Protected) (*Hold, error) {
		return q.waitForTurn(r, own, wait)
	})
}

// QueueUp makes a node with a new name in dir, and calls stand to turn it into a hold. If stand
// returns no hold, QueueUp removes the node.
func QueueUp(
	r *request.Sender, dir, kind string, data []byte,
	stand func(own *request.Protected) (*Hold, error),
) (*Hold, error) {
	own, err := request.NewProtected(dir, kind)
	if err != nil {
		return nil, err
	}
	err = own.Create(r, data)
	if err == nil {
		var held *Hold
		held, err = stand(own)
		if held != nil {
			return held, nil
		}
	}
	return nil, request.GiveBack(r, err, own.Remove)
}

// waitForTurn waits in the queue until the own node may pass.
func (q *Turnstile) waitForTurn(
	r *request.Sender, own *request.Protected, wait bool,
) (*Hold, error) {
	var watched string
	var watch <-chan zk.Event
	for {
		ahead, err := q.look(r, own)
		if err != nil {
			return nil, err
		}
		if ahead == "" {
			return Confirm(r, own.Path, own.Remove)
		}
		if !wait {
			return nil, nil
		}
		if watch == nil || watched != ahead {
			n, err := r.GetW(request.Join(q.Dir, ahead))
			if errors.Is(err, zk.ErrNoNode) {
				continue // gone between the list and the watch
			}
			if err != nil {
				return nil, err
			}
			if err := own.Epoch.Check(); err != nil {
				return nil, err // read in a new session: the own node is gone
			}
			watched, watch = ahead, n.Watch
		}
		r.NoteWaiting()
		fired, err := request.AwaitEvent(r.Ctx, watch, q.Opts.Recheck)
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
func (q *Turnstile) look(r *request.Sender, own *request.Protected) (string, error) {
	names, err := r.Children(q.Dir)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "", request.ErrRestart
	case err != nil:
		return "", err
	case own.Epoch.Check() != nil:
		return "", request.ErrRestart
	}
	queue := request.SortNumbered(names, q.Markers...)
	at := slices.IndexFunc(queue, func(n request.Numbered) bool { return n.Name == own.Name() })
	if at < 0 {
		return "", request.ErrRestart
	}
	return q.Ahead(queue, at), nil
}
