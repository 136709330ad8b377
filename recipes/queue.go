package recipes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"
)

// Queue is a first-in-first-out queue between any number of producers and
// consumers, which a lost connection makes neither lose nor double an element.
// Methods may be called from several goroutines.
//
// What it promises, per call:
//   - Offer that returns nil has appended the element exactly once. Offer that
//     returns an error which wraps ErrAmbiguous has appended it once or not at
//     all; after any other error it has not been appended.
//   - Poll and Take return each element to one caller at most. An element
//     leaves the queue in one transaction that also leaves a claim, so that
//     the caller whose reply was lost can tell its own removal from a rival's.
//     A call that returns an error has taken nothing: what was taken on its
//     way is put back at its old place, in the background if need be. Only if
//     the Conn is closed or the process dies before that, which an error that
//     wraps ErrAmbiguous warns of, the element is lost and its claim stays.
//   - Elements are returned in the order of their creation. The exceptions are
//     elements that an abandoned call puts back, which may come after younger
//     ones that others took meanwhile.
//   - false from Poll and Peek means that the queue was empty at some moment
//     during the call: they synchronise with the leader before they say so.
//
// This is exactly-once removal, not exactly-once processing: a consumer that
// dies after Poll has returned takes its element with it.
//
// On disconnect calls wait for the connection, and on expiry they go on in the
// new session: nothing here is ephemeral. A done context ends a call; if the
// request that decides has been sent and not answered, the call is settled in
// the background (see the package comment).
//
// What it cannot promise: that nothing is left behind by a process that dies
// in the middle of a call. An Offer can leave <path>/dedup/<guid>; it says no
// more than that the element was appended. A Poll or Take can leave
// <path>/claims/<guid>, with the name of the element as its data: that
// element was removed, and its consumer may have died before it was returned.
// Both are made by calls of milliseconds, so nodes older than the longest
// outage can be deleted by anybody; nothing ever waits for them. The data of
// an element removed by a dead consumer is lost: delivery is at most once to a
// consumer that crashes.
//
// Layout, all persistent:
//
//	<path>/items/_c_<guid>-item-<sequence>   the elements, data = payload
//	<path>/dedup/<guid>                      an Offer under way, no data
//	<path>/claims/<guid>                     a removal under way, data = element's name
//
// Other children of items are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Queues"; kazoo's
// LockingQueue; the failures of get-then-delete in kazoo's Queue and the
// Apache DistributedQueue (see ApacheQueue).
type Queue struct {
	conn Conn
	path string
	opts options

	life context.Context // ends with Close
	kill context.CancelCauseFunc

	mu      sync.Mutex
	active  int             // calls that are not over
	idle    chan struct{}   // closed when active becomes 0; nil: nobody waits
	trouble error           // the first clean-up that failed
	change  <-chan zk.Event // watch on items that an earlier Take has set
}

// NewQueue makes a handle for the queue at path, which is created when
// needed. It sends nothing. The options that matter are ACL and RecheckEvery.
func NewQueue(conn Conn, path string, opts ...Option) *Queue {
	q := &Queue{conn: conn, path: path, opts: newOptions(opts)}
	q.life, q.kill = context.WithCancelCause(context.Background())
	return q
}

// itemMarker stands before the sequence number of an element's name.
const itemMarker = "-item-"

func (q *Queue) items() string            { return join(q.path, "items") }
func (q *Queue) item(name string) string  { return join(q.items(), name) }
func (q *Queue) dedup(guid string) string { return join(join(q.path, "dedup"), guid) }
func (q *Queue) claim(guid string) string { return join(join(q.path, "claims"), guid) }

// Close ends the calls under way with ErrClosed and waits until nothing is
// left to settle or ctx is done; in the latter case that goes on. Later calls
// return ErrClosed. It leaves the Conn and the elements alone. It returns the
// first error by which a node of dedup or claims could not be deleted, which
// calls that have succeeded otherwise do not report: the server has refused
// that, or the Conn was closed before (then it wraps ErrConnClosed).
func (q *Queue) Close(ctx context.Context) error {
	q.kill(ErrClosed)
	err := awaitDone(ctx, q.quiet())
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		err = q.trouble
	}
	if err != nil {
		return fmt.Errorf("close queue %s: %w", q.path, err)
	}
	return nil
}

// quiet returns a channel that is closed when no call is under way.
func (q *Queue) quiet() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	if q.active == 0 {
		close(q.idle)
		q.idle = nil
	}
	return idle
}

// begin counts a call in.
func (q *Queue) begin() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.life.Err() != nil {
		return context.Cause(q.life)
	}
	q.active++
	return nil
}

// end counts a call out.
func (q *Queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active--
	if q.active == 0 && q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// tidy deletes a node that has served its purpose, after a call's result is
// settled. What goes wrong is kept for Close.
func (q *Queue) tidy(r *requests, path string) {
	err := r.remove(path)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trouble == nil {
		q.trouble = err
	}
}

// work is what a call does in its own goroutine.
type work[T any] func(ctx context.Context, r *requests, t *task[T]) (T, error)

// call runs one call of a queue. An error wraps ErrAmbiguous if the caller has
// left before the end.
func call[T any](ctx context.Context, q *Queue, what string, do work[T]) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%s queue %s: %w", what, q.path, context.Cause(ctx))
	}
	if err := q.begin(); err != nil {
		return none, fmt.Errorf("%s queue %s: %w", what, q.path, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.life, func() { cancel(context.Cause(q.life)) })()
	t := start(func(t *task[T]) (T, error) {
		defer q.end()
		return do(ctx, &requests{conn: q.conn}, t)
	})
	value, known, err := t.await(ctx)
	if !known {
		err = fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	if err != nil {
		return none, fmt.Errorf("%s queue %s: %w", what, q.path, err)
	}
	return value, nil
}

// list returns the elements' names, oldest first. A missing directory is an
// empty queue.
func (q *Queue) list(ctx context.Context, r *requests) ([]numbered, error) {
	names, err := r.children(ctx, q.items())
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	return sortNumbered(names, itemMarker), nil
}

// listSynced is list that is never behind the moment of the call.
func (q *Queue) listSynced(ctx context.Context, r *requests) ([]numbered, error) {
	if err := r.sync(ctx, q.items()); err != nil {
		return nil, err
	}
	return q.list(ctx, r)
}
