package recipes

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// IDQueue is a Queue of elements with ids, for work that may be called off: Remove removes waiting
// elements by their id. Several elements may have the same id. Methods may be called from several
// goroutines.
//
// It guarantees, for each call:
//
//   - Offer, Poll, Take and Peek have the guarantees of a Queue.
//   - Remove removes in one transaction all elements of an id that were in the queue at the time of
//     the call and that no consumer has taken. It returns their number. Each element is either
//     returned by one Poll or Take, or counted by one Remove. An element that is offered while
//     Remove runs may stay, and so may one that an abandoned Poll puts back.
//   - After an error that wraps ErrAmbiguous Remove has removed all these elements or none; after
//     any other error it has removed none.
//
// When a connection is lost, a session ends or a context is done it behaves like Queue.
//
// It cannot call off work that a consumer has begun, as a taken element is no longer in the queue.
// All elements of an id go into one request, which the server's jute.maxbuffer limits to some
// thousands of them. Queue describes the nodes that a dying process can leave behind; the claim of
// a Remove has the id as its data.
//
// Layout, all persistent, except for the items with EphemeralElements:
//
//	<path>/items/_c_<guid>-id-<id>-item-<sequence>  the elements, data = payload
//	<path>/dedup/<guid>, <path>/claims/<guid>       as with Queue
//
// The id is escaped like a segment of a URL's path. Children of items that are named like elements
// of a Queue count as elements without an id.
//
// Sources: Curator's DistributedIdQueue. Its remove deletes the elements one by one, so a lost
// reply leaves the count in doubt. It does not find an id with a slash, as such an id is stored in
// another form.
type IDQueue struct{ *claimQueue }

// NewIDQueue makes a handle for the queue at path, which is created when needed. It sends nothing.
// The options that matter are ACL, RecheckEvery, Retry, Containers
// and EphemeralElements.
func NewIDQueue(conn Conn, path string, opts ...Option) *IDQueue {
	return &IDQueue{newClaimQueue(conn, "id queue", path, opts, oldestFirst)}
}

// Offer appends an element with an id. The id may be any text whose escaped form fits into a node's
// name. For data and errors see Queue.Offer.
func (q *IDQueue) Offer(ctx context.Context, id string, data []byte) error {
	return q.offerAs(ctx, idMarker+url.PathEscape(id), data)
}

// idMarker stands before the id in an element's name.
const idMarker = "-id-"

// idOf returns the id in an element's name.
func idOf(name string) (id string, ok bool) {
	_, rest, ok := strings.Cut(name, idMarker)
	if end := strings.LastIndex(rest, itemMarker); ok && end >= 0 {
		id, err := url.PathUnescape(rest[:end])
		return id, err == nil
	}
	return "", false
}

// Remove removes all the elements with an id, and returns their number, which may be 0.
func (q *IDQueue) Remove(ctx context.Context, id string) (int, error) {
	return task.Call(ctx, q.tasks, fmt.Sprintf("remove %q from", id), func(
		r *request.Sender, t *task.Task[int],
	) (int, error) {
		return q.removeAll(r, t, id)
	})
}

// removeAll removes the listed elements of an id. It lists again if a rival has taken one of them
// meanwhile.
func (q *IDQueue) removeAll(r *request.Sender, t *task.Task[int], id string) (int, error) {
	for {
		l, err := q.listConfirmed(r)
		if err != nil {
			return 0, err
		}
		var names []string
		for _, name := range l.ready {
			if of, ok := idOf(name); ok && of == id {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return 0, nil
		}
		if done, err := q.removeAllOf(r, t, id, names); done || err != nil {
			return len(names), err
		}
	}
}

// removeAllOf removes elements together, unless one of them is gone. If it gives up with an unknown
// outcome, it looks for the claim.
func (q *IDQueue) removeAllOf(
	r *request.Sender, t *task.Task[int], id string, names []string,
) (done bool, err error) {
	guid, err := request.NewGUID()
	if err != nil {
		return false, err
	}
	done, doubtful, err := q.discard(r, guid, id, names)
	switch {
	case err == nil && done:
		t.Settle(len(names)) // false: the caller has left with ErrAmbiguous
		q.drop(r, q.claim(guid))
		return true, nil
	case err == nil || !doubtful:
		return false, err
	case errors.Is(err, ErrConnClosed):
		return false, fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	err = request.Resolve(r, q.claim(guid), err)
	return err == nil, err
}

// discard deletes elements and creates the claim in one transaction.
func (q *IDQueue) discard(
	r *request.Sender, guid, id string, names []string,
) (done, doubtful bool, err error) {
	ops := []any{&zk.CreateRequest{Path: q.claim(guid), Data: []byte(id), Acl: q.tasks.Opts.ACL}}
	for _, name := range names {
		ops = append(ops, &zk.DeleteRequest{Path: q.item(name), Version: -1})
	}
	gone := func(failed int, err error) bool { return errors.Is(err, zk.ErrNoNode) && failed > 0 }
	_, done, err = q.commit(r, &doubtful, gone, ops...)
	return done, doubtful, err
}
