package recipes

import (
	"context"
	"fmt"
	"time"
)

// DelayQueue is a queue between any number of producers and consumers. Each element can be taken
// from a given moment on: for work to be done or retried later. Methods may be called from several
// goroutines.
//
// It guarantees, for each call:
//
//   - Delivery as with Queue: Offer that returns nil has stored the element exactly once, Poll and
//     Take return each element to one caller at most, and a call that returns an error has taken
//     nothing.
//   - Poll, Take and Peek return no element before it is due, by the clock of the consumer. Moments
//     are rounded up to milliseconds.
//   - Of the elements that are due, Poll and Take return the one that was due first at the moment
//     of its removal, and of several due at the same moment the oldest. An element that an
//     abandoned call puts back has its old place.
//   - false from Poll and Peek means that nothing was due at some moment of the call.
//   - A waiting Take wakes when the first element becomes due, without requests meanwhile.
//
// When a connection is lost, a session ends or a context is done it behaves like Queue.
//
// It cannot guarantee that an element leaves as soon as it is due, as a consumer has to take it.
// Producers and consumers each go by their own clock; elements are early or late by the difference.
// All waiting consumers wake when an element becomes due, and one gets it. For many offers at a
// time and for the data of the directory see PriorityQueue; for nodes that a dying process can
// leave behind see Queue.
//
// Layout, all persistent:
//
//	<path>/items/_c_<guid>-due<milliseconds>-item-<sequence>  the elements, data = payload
//	<path>/dedup/<guid>, <path>/claims/<guid>                 as with Queue
//
// The moment is Unix time, in at least thirteen digits. Other children of items are ignored.
//
// Sources: Curator's DistributedDelayQueue, which removes elements by a plain delete and works on
// an old list.
type DelayQueue struct{ *claimQueue }

// NewDelayQueue makes a handle for the queue at path, which is created when needed. It sends
// nothing. The options that matter are ACL, RecheckEvery, Retry, Containers
// and EphemeralElements.
func NewDelayQueue(conn Conn, path string, opts ...Option) *DelayQueue {
	q := &DelayQueue{newClaimQueue(conn, "delay queue", path, opts, firstDueFirst)}
	q.strict = true
	return q
}

// Offer stores an element that can be taken from due on; a moment that has passed is due at once,
// and one before 1970 is taken for the beginning of that. For data and errors see Queue.Offer.
func (q *DelayQueue) Offer(ctx context.Context, data []byte, due time.Time) error {
	millis := max(due.Add(time.Millisecond-1).UnixMilli(), 0)
	return q.offerAs(ctx, fmt.Sprintf("%s%013d", dueMarker, millis), data)
}

// dueMarker stands before the moment in an element's name.
const dueMarker = "-due"

// firstDueFirst is the arrangement of a delay queue, by the clock of now.
func firstDueFirst(names []string) lineup {
	var l lineup
	now := time.Now()
	for _, e := range sortRanked(names, dueMarker) {
		if due := time.UnixMilli(e.rank); due.After(now) {
			l.next = due
			break
		}
		l.ready = append(l.ready, e.name)
	}
	return l
}
