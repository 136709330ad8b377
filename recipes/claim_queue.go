package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// claimQueue is the common part of the queues that hand each element to one caller at most. One
// transaction creates an element and a record; another one deletes the element and creates a claim.
// The queues differ in the names of their elements and in their order.
type claimQueue struct {
	lifecycle
	change  request.NodeWatch // on items
	arrange func(names []string) elementOrder
	// strict makes a removal fail if an element was offered after the removal's list was read, as
	// the new element may come before the chosen one. The number of offers is the data version of
	// the directory of elements.
	strict  bool
	records []string // further directories besides items, with the records of calls under way
}

// elementOrder is the order of a queue's elements.
type elementOrder struct {
	ready   []string  // the elements that can be taken, in order
	next    time.Time // when the next element will be ready; zero: unknown
	version int32     // of the directory at the time of the list
}

// newClaimQueue makes a queue. It sends nothing.
func newClaimQueue(
	conn Conn, kind, path string, opts []Option, arrange func(names []string) elementOrder,
) *claimQueue {
	q := &claimQueue{
		lifecycle: newLifecycle(
			conn, kind, path, opts,
		), arrange: arrange, records: []string{"dedup", "claims"},
	}
	q.change.Path = q.items()
	return q
}

// itemMarker stands before the sequence number of an element's name.
const itemMarker = "-item-"

func (q *claimQueue) items() string           { return request.Join(q.tasks.Path, "items") }
func (q *claimQueue) item(name string) string { return request.Join(q.items(), name) }
func (q *claimQueue) dedup(guid string) string {
	return request.Join(request.Join(q.tasks.Path, "dedup"), guid)
}
func (q *claimQueue) claim(guid string) string {
	return request.Join(request.Join(q.tasks.Path, "claims"), guid)
}

// Close ends the calls under way with ErrClosed and waits until their clean-up is over or ctx is
// done; in the latter case the clean-up goes on. Later calls return ErrClosed. The Conn stays open
// and the elements stay in the queue. Close returns the first error that kept a node of dedup or
// claims from being deleted: a refusal of the server, or an error that wraps ErrConnClosed. A call
// that has succeeded does not return such an error itself.
func (q *claimQueue) Close(ctx context.Context) error { return q.tasks.Close(ctx) }

// drop deletes a record after a call's result is settled. An error is kept for Close.
func (q *claimQueue) drop(r *request.Sender, path string) { q.tasks.Note(r.Remove(path)) }

// list returns the elements in their order. A missing directory is an empty queue.
func (q *claimQueue) list(r *request.Sender) (elementOrder, error) {
	for {
		var names []string
		var stat *zk.Stat
		err := r.Repeat(func() (err error) {
			names, stat, err = r.Conn.Children(q.items())
			return err
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return elementOrder{}, nil
		case err != nil:
			return elementOrder{}, err
		case !q.strict || stat.Version != -1:
			l := q.arrange(names)
			l.version = stat.Version
			return l, nil
		}
		// A removal that checks for version -1 would accept any version, so the version must move
		// on. A rival with an older list then lists again.
		err = r.Repeat(func() error {
			_, err := r.Conn.Set(q.items(), nil, -1)
			return err
		})
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return elementOrder{}, err
		}
	}
}

// listConfirmed is list as it is at some moment of the call.
func (q *claimQueue) listConfirmed(r *request.Sender) (elementOrder, error) {
	return request.FreshResult(r, q.items(), func() (elementOrder, error) {
		return q.list(r)
	})
}

// listSynced is list after a sync. It is cheaper than listConfirmed, and may be older if it comes
// from a leader that was deposed: then what is decided by it fails.
func (q *claimQueue) listSynced(r *request.Sender) (elementOrder, error) {
	for {
		e, err := r.Synced(q.items())
		if err != nil {
			return elementOrder{}, err
		}
		if l, err := q.list(r); err != nil || e.Check() == nil {
			return l, err
		}
	}
}
