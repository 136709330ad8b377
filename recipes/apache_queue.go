package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ApacheQueue is the DistributedQueue of the Apache ZooKeeper source: to take
// an element it reads the first node and then deletes it. It is here for
// comparison. It can LOSE AND DOUBLE elements:
//
//   - When the reply to the delete is lost, the element is gone and nobody has
//     seen it: Poll, Remove or Take returns an error without the element, and
//     calling it again returns the next one.
//   - When the reply to Offer is lost, the caller cannot know whether the
//     element was appended; offering it again may double it.
//
// As the Java recipe throws ConnectionLossException, every error of the
// connection is returned, wrapping ErrAmbiguous where a change was under way;
// nothing is tried again. ctx is looked at before each step and ends the wait
// of Take, but not a request that waits inside the client.
//
// What it promises: without errors, each element is returned to one caller, in
// the order of creation (sequence numbers may wrap, unlike in the original; when they
// are used up Offer returns zk.ErrNodeExists while an element has the last one). An
// element that a rival has taken meanwhile is skipped, and the list is read
// again until it is empty. Peek, Element, an empty Poll and ErrNoElement
// can be as old as the server that the client is connected to. An expired
// session takes nothing away. Queue is the one to use.
//
// Layout: <path>/qn-<sequence>, persistent. Other children are ignored.
//
// Source: zookeeper-recipes-queue, DistributedQueue.java.
type ApacheQueue struct {
	conn Conn
	path string
	opts options
}

// NewApacheQueue makes a handle for the queue at path, which is created when
// needed. It sends nothing, and there is nothing to close. The options that
// matter are ACL and RecheckEvery.
func NewApacheQueue(conn Conn, path string, opts ...Option) *ApacheQueue {
	return &ApacheQueue{conn: conn, path: path, opts: newOptions(opts)}
}

// Offer appends an element.
func (q *ApacheQueue) Offer(ctx context.Context, data []byte) error {
	for {
		if ctx.Err() != nil {
			return q.explain("offer to", context.Cause(ctx))
		}
		_, err := q.conn.Create(join(q.path, "qn-"), data, zk.FlagSequence, q.opts.acl)
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
	e, err := q.first(ctx, func(string) error { return nil })
	return e.data, e.ok, q.explain("peek at", err)
}

// Element is Peek that returns ErrNoElement if the queue is empty, as the Java
// method throws NoSuchElementException.
func (q *ApacheQueue) Element(ctx context.Context) ([]byte, error) {
	e, err := q.first(ctx, func(string) error { return nil })
	return e.data, q.explain("look at the element of", e.orNone(err))
}

// Remove is Poll that returns ErrNoElement if the queue is empty, as the Java
// method throws NoSuchElementException.
func (q *ApacheQueue) Remove(ctx context.Context) ([]byte, error) {
	e, err := q.first(ctx, q.discard)
	return e.data, q.explain("remove from", e.orNone(err))
}

// ErrNoElement is returned by Element and Remove of an ApacheQueue that is empty.
var ErrNoElement = errors.New("no such element")

// orNone returns err, or ErrNoElement if there is no element.
func (e element) orNone(err error) error {
	if err == nil && !e.ok {
		return ErrNoElement
	}
	return err
}

// Poll removes the first element and returns its payload, or false if the
// queue is empty.
func (q *ApacheQueue) Poll(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := q.first(ctx, q.discard)
	return e.data, e.ok, q.explain("poll", err)
}

// Take removes the first element and returns its payload; it waits for one
// while the queue is empty.
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

// first returns the first element for which use succeeds, and none only if
// there are no elements: when rivals have taken all that it has seen, it looks
// again.
func (q *ApacheQueue) first(ctx context.Context, use func(path string) error) (element, error) {
	for {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		names, _, err := q.conn.Children(q.path)
		if errors.Is(err, zk.ErrNoNode) {
			return element{}, nil
		}
		elements := sortNumbered(names, "qn-")
		if err != nil || len(elements) == 0 {
			return element{}, err
		}
		e, err := q.firstOf(ctx, elements, use)
		if err != nil || e.ok {
			return e, err
		}
	}
}

// firstOf returns the first of the elements for which use succeeds.
// zk.ErrNoNode, from reading it or from use, means that a rival has taken it.
func (q *ApacheQueue) firstOf(ctx context.Context, elements []numbered, use func(path string) error) (element, error) {
	for _, n := range elements {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		path := join(q.path, n.name)
		data, _, err := q.conn.Get(path)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = use(path)
		}
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return element{}, err
		}
		return element{data: data, ok: true}, nil
	}
	return element{}, nil
}

// discard deletes an element, once.
func (q *ApacheQueue) discard(path string) error { return ambiguous(q.conn.Delete(path, -1)) }

// awaitChange waits while there are no elements.
func (q *ApacheQueue) awaitChange(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	names, _, watch, err := q.conn.ChildrenW(q.path)
	if errors.Is(err, zk.ErrNoNode) {
		return q.ensure(ctx)
	}
	if err != nil || len(sortNumbered(names, "qn-")) > 0 {
		return err
	}
	_, err = awaitEvent(ctx, watch, q.opts.recheck)
	if errors.Is(err, errRestart) {
		return zk.ErrSessionExpired
	}
	return err
}

// ensure creates the queue's directory. That it is deleted meanwhile is no
// error: the caller tries again.
func (q *ApacheQueue) ensure(ctx context.Context) error {
	err := newRequests(q.conn, q.opts).ensure(ctx, q.path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// explain says what was attempted on what.
func (q *ApacheQueue) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{what + " apache queue " + q.path, err}
}
