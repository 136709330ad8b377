package recipes

import "context"

// Queue is a first-in-first-out queue between any number of producers and
// consumers, which a lost connection makes neither lose nor double an element.
// Methods may be called from several goroutines.
//
// What it promises, per call:
//   - Offer that returns nil has appended the element exactly once. Offer that
//     returns an error which wraps ErrAmbiguous has appended it once or not at
//     all; after any other error it has not been appended. ErrNumbersUsedUp
//     says that no place is left behind the elements that are there.
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
// What it cannot promise: that no watch is left on its items: one whose event the
// client has missed, because the connection was lost twice in a row, is used again by
// the next Take. That nothing is left behind by a process that dies
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
type Queue struct{ *claimQueue }

// NewQueue makes a handle for the queue at path, which is created when
// needed. It sends nothing. The options that matter are ACL, RecheckEvery,
// Retry and Containers.
func NewQueue(conn Conn, path string, opts ...Option) *Queue {
	return &Queue{newClaimQueue(conn, "queue", path, opts, oldestFirst)}
}

// oldestFirst is the arrangement of a FIFO queue.
func oldestFirst(names []string) lineup {
	var l lineup
	for _, n := range sortNumbered(names, itemMarker) {
		l.ready = append(l.ready, n.name)
	}
	return l
}

// Offer appends an element with data as its payload. It returns nil when it
// has been appended, exactly once. While the connection is down it tries again
// until ctx is done; see Queue for what an error means.
func (q *Queue) Offer(ctx context.Context, data []byte) error { return q.offerAs(ctx, "", data) }
