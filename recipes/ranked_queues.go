package recipes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/recipes/internal/request"
)

// PriorityQueue is a queue between any number of producers and consumers. The most urgent element
// leaves first. Methods may be called from several goroutines.
//
// It guarantees, for each call:
//
//   - Delivery is that of Queue: if Offer returns nil, it has stored the element exactly once; Poll
//     and Take return each element to at most one caller; a call that returns an error has taken
//     nothing.
//   - Poll and Take return the element that was first at the moment of its removal: no element in
//     the queue had a smaller priority, and no older element had the same priority. An abandoned
//     call puts its element back at the old place.
//   - false from Poll and Peek means that the queue was empty at some moment of the call.
//
// When a connection is lost, a session ends or a context is done it behaves like Queue.
//
// It cannot guarantee fairness. Less urgent elements wait while there are more urgent ones. If an
// element was offered since the list was read, a removal fails and is tried again with a new list.
// So removals are slow if offers come faster than requests are answered. The offers are counted in
// the 32-bit data version of the directory of elements, so other clients must not set its data. The
// version -1, once in 2^32 offers, cannot be checked and is skipped. For nodes that a dying process
// can leave behind see Queue.
//
// Layout, all persistent, except for the items with EphemeralElements:
//
//	<path>/items/_c_<guid>-prio<priority>-item-<sequence>  the elements, data = payload
//	<path>/dedup/<guid>, <path>/claims/<guid>              as with Queue
//
// The priority is eleven characters, its sign included. Other children of items are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Priority Queues", which requires an up-to-date
// list but does not say how to get one; Curator's DistributedPriorityQueue, whose consumers work on
// an old list.
type PriorityQueue struct{ *claimQueue }

// NewPriorityQueue makes a handle for the queue at path, which is created when needed. It sends
// nothing. The options that matter are ACL, RecheckEvery, Retry, Containers
// and EphemeralElements.
func NewPriorityQueue(conn Conn, path string, opts ...Option) *PriorityQueue {
	q := &PriorityQueue{newClaimQueue(conn, "priority queue", path, opts, mostUrgentFirst)}
	q.strict = true
	return q
}

// Offer stores an element. The smaller its priority, the sooner it leaves, as with the priorities
// of UNIX processes; negative ones are allowed. For data and errors see Queue.Offer.
func (q *PriorityQueue) Offer(ctx context.Context, data []byte, priority int32) error {
	return q.offerAs(ctx, fmt.Sprintf("%s%+011d", priorityMarker, priority), data)
}

// priorityMarker stands before the priority in an element's name.
const priorityMarker = "-prio"

// ranked is an element with a rank. It leaves after all elements of a smaller rank, and after older
// elements of the same rank.
type ranked struct {
	request.Numbered
	rank int64
}

// mostUrgentFirst is the arrangement of a priority queue.
func mostUrgentFirst(names []string) elementOrder {
	var l elementOrder
	for _, e := range sortRanked(names, priorityMarker) {
		l.ready = append(l.ready, e.Name)
	}
	return l
}

// sortRanked returns the elements with a rank behind the marker, sorted by rank and then by age.
// Foreign children are left out.
func sortRanked(names []string, marker string) []ranked {
	var out []ranked
	for _, n := range request.SortNumbered(names, itemMarker) {
		_, rest, found := strings.Cut(n.Name, marker)
		digits, _, _ := strings.Cut(rest, itemMarker)
		if rank, err := strconv.ParseInt(digits, 10, 64); found && err == nil {
			out = append(out, ranked{n, rank})
		}
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	return out
}

// DelayQueue is a queue of elements with due times, for work that is done or retried later. It may
// have any number of producers and consumers. Methods may be called from several goroutines.
//
// It guarantees, for each call:
//
//   - Elements are delivered as by a Queue: an Offer that returns nil has stored the element
//     exactly once, Poll and Take return each element to one caller at most, and a call that
//     returns an error has taken nothing.
//   - Poll, Take and Peek return no element before it is due, by the clock of the consumer. Moments
//     are rounded up to milliseconds.
//   - Poll and Take return the element with the earliest due time at the moment of the removal; of
//     several with the same due time they return the oldest. An element that an abandoned call puts
//     back gets its old place.
//   - false from Poll and Peek means that nothing was due at some moment of the call.
//   - A waiting Take wakes when the first element becomes due, without requests meanwhile.
//
// When a connection is lost, a session ends or a context is done it behaves like Queue.
//
// It cannot guarantee that an element leaves as soon as it is due: a consumer has to take it.
// Producers and consumers use their own clocks, so an element is early or late by the difference.
// All waiting consumers wake when an element becomes due, and one gets it. PriorityQueue describes
// the cost of many simultaneous offers and the data of the directory; Queue describes the nodes
// that a dying process can leave behind.
//
// Layout, all persistent, except for the items with EphemeralElements:
//
//	<path>/items/_c_<guid>-due<milliseconds>-item-<sequence>  the elements, data = payload
//	<path>/dedup/<guid>, <path>/claims/<guid>                 as with Queue
//
// The moment is Unix time, in at least thirteen digits. Other children of items are ignored.
//
// Sources: Curator's DistributedDelayQueue, which removes elements by a plain delete and works from
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

// Offer stores an element that can be taken from due on. An element with a past due time can be
// taken at once. A time before 1970 counts as the beginning of 1970. For data and errors see
// Queue.Offer.
func (q *DelayQueue) Offer(ctx context.Context, data []byte, due time.Time) error {
	millis := max(due.Add(time.Millisecond-1).UnixMilli(), 0)
	return q.offerAs(ctx, fmt.Sprintf("%s%013d", dueMarker, millis), data)
}

// dueMarker stands before the moment in an element's name.
const dueMarker = "-due"

// firstDueFirst orders the elements of a delay queue by due time. An element is ready when the
// local clock has reached its due time.
func firstDueFirst(names []string) elementOrder {
	var l elementOrder
	now := time.Now()
	for _, e := range sortRanked(names, dueMarker) {
		if due := time.UnixMilli(e.rank); due.After(now) {
			l.next = due
			break
		}
		l.ready = append(l.ready, e.Name)
	}
	return l
}
