package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Queue is a first-in-first-out queue between any number of producers and consumers. A lost
// connection neither loses nor duplicates an element. Methods may be called from several
// goroutines.
//
// It guarantees, for each call:
//
//   - If Offer returns nil, it has appended the element exactly once. After an error that wraps
//     ErrAmbiguous it has appended the element once or not at all, after any other error not at
//     all. ErrNumbersUsedUp says that the sequence numbers of the queue are used up.
//   - Poll and Take return each element to at most one caller. One transaction removes the element
//     and creates a claim. So after a lost reply a caller can tell its own removal from a rival's.
//     A call that returns an error has taken nothing: an element that it had removed is put back at
//     the old place, in the background if need be. If the Conn is closed or the process dies before
//     that, the element is lost and the claim stays. The error then wraps ErrAmbiguous. An
//     ephemeral element cannot be put back and is lost, too: see EphemeralElements.
//   - Elements are returned in the order of their creation, with one exception: an element that was
//     put back may come after younger elements that were taken meanwhile.
//   - If Poll or Peek returns false, the queue was empty at some moment of the call:
//     they send a write that changes nothing before they look; see SyncOnly.
//
// This is exactly-once removal, not exactly-once processing: a consumer that dies after Poll has
// returned takes its element with it. For at-least-once processing use LockQueue.
//
// When the connection is lost, calls wait for it. When the session ends, they go on in the new one,
// as claims and records are persistent. A done context ends a call. If a request was sent and not
// answered, the call is settled in the background (see the package comment).
//
// It cannot guarantee that a process which dies in the middle of a call leaves nothing behind. An
// Offer can leave <path>/dedup/<guid>, which says only that the element was appended. A Poll or
// Take can leave <path>/claims/<guid>, with the name of the element as its data: that element was
// removed, and its consumer may have died before the call returned. Such nodes can be deleted once
// they are older than the longest outage: calls take milliseconds, and no client waits for these
// nodes. A watch on the items can stay, too, if the client missed its event because the connection
// was lost twice in a row. The next Take uses it again.
//
// Layout, all persistent, except for the items with EphemeralElements:
//
//	<path>/items/_c_<guid>-item-<sequence>   the elements, data = payload
//	<path>/dedup/<guid>                      an Offer under way, no data
//	<path>/claims/<guid>                     a removal under way, data = element's name
//
// Other children of items are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Queues"; kazoo's LockingQueue; the failures of
// get-then-delete in kazoo's Queue and the Apache DistributedQueue (see package classic).
type Queue struct{ *claimQueue }

// NewQueue makes a handle for the queue at path, which is created when needed. It sends nothing.
// The options that matter are ACL, RecheckEvery, Retry, Containers
// and EphemeralElements.
func NewQueue(conn Conn, path string, opts ...Option) *Queue {
	return &Queue{newClaimQueue(conn, "queue", path, opts, oldestFirst)}
}

// oldestFirst is the arrangement of a FIFO queue.
func oldestFirst(names []string) elementOrder {
	var l elementOrder
	for _, n := range request.SortNumbered(names, itemMarker) {
		l.ready = append(l.ready, n.Name)
	}
	return l
}

// Offer appends an element with data as its payload. It returns nil when it has appended the
// element exactly once. While the connection is down it tries again until ctx is done. See Queue
// for the meaning of errors.
func (q *Queue) Offer(ctx context.Context, data []byte) error { return q.offerAs(ctx, "", data) }
