package classic

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
)

// ErrNoElement is returned by Element and Remove of an empty ApacheQueue.
var ErrNoElement = errors.New("no such element")

// ApacheQueue is the DistributedQueue of the Apache ZooKeeper source. To take an element it reads
// the first node and then deletes it. It can LOSE AND DOUBLE elements:
//
//   - When the reply to the deletion is lost, the element is gone and no caller gets it: Poll,
//     Remove or Take returns an error without the element, and the next call returns the next
//     element.
//   - When the reply to Offer is lost, the caller cannot know whether the element was appended.
//     Offering it again may double it.
//
// Each method returns the errors of the connection, as the Java recipe throws
// ConnectionLossException. Such an error wraps recipes.ErrAmbiguous if a change was under way. Only
// the creation of the queue's directory is repeated. Each method checks its context before each
// step. A done context ends the wait of Take, but not a request that waits inside the client.
//
// It guarantees that without errors each element is returned to one caller, in the order of
// creation. An element that a rival has taken meanwhile is skipped, and the list is read again
// until it is empty. When the sequence numbers of its directory are used up, Offer returns
// zk.ErrNodeExists as long as an element has the last number. The end of a session removes no
// element.
//
// It cannot guarantee that Peek, Element, an empty Poll and ErrNoElement are up to date, as the
// client's server can lag behind.
//
// Layout: <path>/qn-<sequence>, persistent. Other children are ignored.
//
// Source: zookeeper-recipes-queue, DistributedQueue.java.
type ApacheQueue struct {
	conn recipes.Conn
	path string
	acl  []zk.ACL
}

// NewApacheQueue makes a handle for the queue at path, which the first Offer or Take creates. It
// sends nothing, and there is nothing to close.
func NewApacheQueue(conn recipes.Conn, path string, acl []zk.ACL) *ApacheQueue {
	return &ApacheQueue{conn: conn, path: path, acl: acl}
}

// prefix is the name of an element up to its number.
const prefix = "qn-"

// recheck is the time after which Take lists the elements again without an event, as the client can
// miss one.
const recheck = time.Minute

// element is an element that was read; ok is false if there is none.
type element struct {
	data []byte
	ok   bool
}

// orNone returns err, or ErrNoElement if there is no element.
func (e element) orNone(err error) error {
	if err == nil && !e.ok {
		return ErrNoElement
	}
	return err
}

// Offer appends an element.
func (q *ApacheQueue) Offer(ctx context.Context, data []byte) error {
	for {
		if ctx.Err() != nil {
			return q.explain("offer to", context.Cause(ctx))
		}
		_, err := q.conn.Create(path.Join(q.path, prefix), data, zk.FlagSequence, q.acl)
		if !errors.Is(err, zk.ErrNoNode) {
			return q.explain("offer to", ambiguous(err))
		}
		if err := q.ensure(ctx); err != nil {
			return q.explain("offer to", err)
		}
	}
}

// Peek returns the payload of the first element without removing it.
func (q *ApacheQueue) Peek(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := q.first(ctx, nothing)
	return e.data, e.ok, q.explain("peek at", err)
}

// Element is Peek that returns ErrNoElement if the queue is empty, as the Java method throws
// NoSuchElementException.
func (q *ApacheQueue) Element(ctx context.Context) ([]byte, error) {
	e, err := q.first(ctx, nothing)
	return e.data, q.explain("look at the element of", e.orNone(err))
}

// Remove is Poll that returns ErrNoElement if the queue is empty, as the Java method throws
// NoSuchElementException.
func (q *ApacheQueue) Remove(ctx context.Context) ([]byte, error) {
	e, err := q.first(ctx, q.discard)
	return e.data, q.explain("remove from", e.orNone(err))
}

// Poll removes the first element and returns its payload, or false if the queue is empty.
func (q *ApacheQueue) Poll(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := q.first(ctx, q.discard)
	return e.data, e.ok, q.explain("poll", err)
}

// Take removes the first element and returns its payload. It waits for one while the queue is
// empty.
func (q *ApacheQueue) Take(ctx context.Context) ([]byte, error) {
	for {
		e, err := q.first(ctx, q.discard)
		if err != nil || e.ok {
			return e.data, q.explain("take from", err)
		}
		if err := q.awaitChange(ctx); err != nil {
			return nil, q.explain("take from", err)
		}
	}
}

// nothing leaves an element in the queue.
func nothing(string) error { return nil }

// discard deletes an element, once.
func (q *ApacheQueue) discard(node string) error { return ambiguous(q.conn.Delete(node, -1)) }

// first returns the first element for which use succeeds. If rivals have taken all listed elements,
// it lists again. It returns no element only if the list is empty.
func (q *ApacheQueue) first(ctx context.Context, use func(node string) error) (element, error) {
	for {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		names, _, err := q.conn.Children(q.path)
		if errors.Is(err, zk.ErrNoNode) {
			return element{}, nil
		}
		elements := recipes.SortBySequence(names, prefix)
		if err != nil || len(elements) == 0 {
			return element{}, err
		}
		e, err := q.firstOf(ctx, elements, use)
		if err != nil || e.ok {
			return e, err
		}
	}
}

// firstOf returns the first of the elements for which use succeeds. zk.ErrNoNode from the read or
// from use means that a rival has taken the element.
func (q *ApacheQueue) firstOf(
	ctx context.Context, elements []string, use func(node string) error,
) (element, error) {
	for _, name := range elements {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		node := path.Join(q.path, name)
		data, _, err := q.conn.Get(node)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = use(node)
		}
		switch {
		case err == nil:
			return element{data: data, ok: true}, nil
		case !errors.Is(err, zk.ErrNoNode):
			return element{}, err
		}
	}
	return element{}, nil
}

// awaitChange waits while there are no elements.
func (q *ApacheQueue) awaitChange(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	names, _, events, err := q.conn.ChildrenW(q.path)
	if errors.Is(err, zk.ErrNoNode) {
		return q.ensure(ctx)
	}
	if err != nil || len(recipes.SortBySequence(names, prefix)) > 0 {
		return err
	}
	return await(ctx, events)
}

// await waits for an event, but no longer than recheck. It returns the event if that has come
// already, even if the context is done: a single select would choose at random.
func await(ctx context.Context, events <-chan zk.Event) error {
	select {
	case ev := <-events:
		return eventError(ev)
	default:
	}
	timer := time.NewTimer(recheck)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	case ev := <-events:
		return eventError(ev)
	}
}

// eventError returns the error of a watch event, or nil if the waiter must list again.
func eventError(ev zk.Event) error {
	switch {
	case errors.Is(ev.Err, zk.ErrClosing):
		return recipes.ErrConnClosed
	case ev.Err != nil:
		return zk.ErrSessionExpired
	}
	return nil
}

// patience is the retry policy for the creation of a directory.
var patience = recipes.RetryUntil(recipes.RetryForever(), time.Minute)

// ensure creates the queue's directory and its parents. If another client deletes a level
// meanwhile, ensure returns nil and the caller tries again.
func (q *ApacheQueue) ensure(ctx context.Context) error {
	for at := 1; at <= len(q.path); at++ {
		if at < len(q.path) && q.path[at] != '/' {
			continue
		}
		err := q.ensureOne(ctx, q.path[:at])
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("create parent %s: %w", q.path[:at], err)
		}
	}
	return nil
}

// ensureOne creates one level. It repeats a creation with an unknown outcome, and one that found no
// server.
func (q *ApacheQueue) ensureOne(ctx context.Context, node string) error {
	var began time.Time
	for tries := 1; ; tries++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := q.conn.Create(node, nil, 0, q.acl)
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			return nil
		case recipes.OutcomeOf(err) != recipes.Unknown && !errors.Is(err, zk.ErrNoServer):
			return err
		}
		if tries == 1 {
			began = time.Now()
		}
		pause, again := patience.Next(tries, time.Since(began), err)
		if !again {
			return err
		}
		if err := request.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// ambiguous makes the error of a change wrap ErrAmbiguous if the outcome is unknown.
func ambiguous(err error) error {
	if err != nil && recipes.OutcomeOf(err) == recipes.Unknown {
		return fmt.Errorf("%w: %w", recipes.ErrAmbiguous, err)
	}
	return err
}

// explain adds the operation and the queue to an error.
func (q *ApacheQueue) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s apache queue %s: %w", what, q.path, err)
}
