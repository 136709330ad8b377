package gallery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var plantedPriorityQueues = []Exhibit{
	planted("forgets priorities", order, priorityQueueOf(func(q *plainQueue) {
		q.order = byNumber
	})),
	planted("compares priorities as text", order, priorityQueueOf(func(q *plainQueue) {
		q.order = func(a, b string) int {
			text := cmp.Compare(fmt.Sprint(rankOf(a)), fmt.Sprint(rankOf(b)))
			return cmp.Or(text, byNumber(a, b))
		}
	})),
	planted("takes the least urgent first", linearizable, priorityQueueOf(takesGreatestRank)),
	planted("chooses from a list of some time ago", order, priorityQueueOf(takesFromOldList)),
	planted("offers again whatever was lost", delivery, priorityQueueOf(offersAgain)),
	planted("deletes before it reads", delivery, priorityQueueOf(deletesFirst)),
}

var plantedDelayQueues = []Exhibit{
	planted("takes what is not due", order, delayQueueOf(func(q *plainQueue) {
		q.scan = q.firstOf
	})),
	planted("takes what is due last first", order, delayQueueOf(takesGreatestRank)),
	planted("never wakes for what becomes due", liveness,
		delayQueueOf(func(q *plainQueue) { q.await = awaitChange })),
	planted("sleeps until the first is due", liveness, delayQueueOf(sleepsUntilDue)),
	planted("takes a rival's delete for its own", linearizable, delayQueueOf(takesRivalsDelete)),
}

// takesGreatestRank goes by ranks in the wrong order.
func takesGreatestRank(q *plainQueue) {
	q.order = func(a, b string) int {
		return cmp.Or(cmp.Compare(rankOf(b), rankOf(a)), byNumber(a, b))
	}
}

// takesFromOldList works on one list until it is used up.
func takesFromOldList(q *plainQueue) {
	var left []string
	q.scan = func(names []string) ([]byte, error) {
		if len(left) == 0 {
			left = names
			time.Sleep(20 * time.Millisecond)
		}
		if len(left) == 0 {
			return nil, errGone
		}
		name := left[0]
		left = left[1:]
		return q.firstOf([]string{name})
	}
}

// rankedQueue is a plain queue that goes by ranks, which stand in the names of the elements.
type rankedQueue struct{ *plainQueue }

func newRankedQueue(conn *zk.Conn) rankedQueue {
	q := newQueue(conn)
	q.order = func(a, b string) int {
		return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), byNumber(a, b))
	}
	return rankedQueue{q}
}

// leastRank makes all ranks positive in a name.
const leastRank = 100

func (q rankedQueue) offer(data []byte, rank int64) error {
	q.prefix = fmt.Sprintf("n%014d-", rank+leastRank)
	return q.add(data)
}

// rankOf reads the rank of an element.
func rankOf(name string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "n"), "-")
	rank, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic(err) // it is no name of an element
	}
	return rank - leastRank
}

type priorityQueue struct{ rankedQueue }

func priorityQueueOf(steps ...func(*plainQueue)) scenario.Workload {
	return beside(object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
		q := newRankedQueue(env.Conn)
		with(q.plainQueue, steps)
		return priorityQueue{q}
	}), queueDir)
}

func (q priorityQueue) Offer(_ context.Context, data []byte, priority int32) error {
	return q.offer(data, int64(priority))
}

type delayQueue struct{ rankedQueue }

func delayQueueOf(steps ...func(*plainQueue)) scenario.Workload {
	return beside(object.DelayQueue(func(env object.Env) object.DelayQueuer {
		q := newRankedQueue(env.Conn)
		q.scan, q.await = q.firstDue, awaitSoon
		with(q.plainQueue, steps)
		return delayQueue{q}
	}), queueDir)
}

func (q delayQueue) Offer(_ context.Context, data []byte, due time.Time) error {
	return q.offer(data, due.UnixMilli())
}

// firstDue takes the first element that is due.
func (q *plainQueue) firstDue(names []string) ([]byte, error) {
	notDue := func(name string) bool { return time.UnixMilli(rankOf(name)).After(time.Now()) }
	return q.firstOf(slices.DeleteFunc(names, notDue))
}

// sleepsUntilDue does not wake for an element that is due before the one that it has seen.
func sleepsUntilDue(q *plainQueue) {
	var first time.Time // zero: there was none
	q.scan = func(names []string) ([]byte, error) {
		if first = (time.Time{}); len(names) > 0 {
			first = time.UnixMilli(rankOf(names[0]))
		}
		return q.firstDue(names)
	}
	q.await = func(ctx context.Context, change <-chan zk.Event) error {
		if first.IsZero() {
			return awaitChange(ctx, change)
		}
		select {
		case <-time.After(time.Until(first)):
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}

// awaitSoon waits for a change, or until something may have become due.
func awaitSoon(ctx context.Context, change <-chan zk.Event) error {
	select {
	case <-change:
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
	}
	return ctx.Err()
}
