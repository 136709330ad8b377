package gallery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var plantedPriorityQueues = []Exhibit{
	{
		Title: "forgets priorities", Property: linearizability.Order,
		Wrong: priorityQueueOf(func(q *line) { q.order = byNumber }),
	},
	{
		Title: "takes the least urgent first", Property: linearizability.Linearizability,
		Wrong: priorityQueueOf(takesGreatestRank),
	},
	{
		Title: "chooses from a list of some time ago", Property: linearizability.Order,
		Wrong: priorityQueueOf(takesFromOldList),
	},
	{
		Title: "offers again whatever was lost", Property: linearizability.Delivery,
		Wrong: priorityQueueOf(offersAgain),
	},
	{
		Title: "deletes before it reads", Property: linearizability.Delivery,
		Wrong: priorityQueueOf(deletesFirst),
	},
}

var plantedDelayQueues = []Exhibit{
	{
		Title: "takes what is not due", Property: linearizability.Order,
		Wrong: delayQueueOf(func(q *line) { q.scan = q.first }),
	},
	{
		Title: "takes what is due last first", Property: linearizability.Order,
		Wrong: delayQueueOf(takesGreatestRank),
	},
	{
		Title: "never wakes for what becomes due", Property: linearizability.Liveness,
		Wrong: delayQueueOf(func(q *line) { q.await = awaitChange }),
	},
	{
		Title: "takes a rival's delete for its own", Property: linearizability.Linearizability,
		Wrong: delayQueueOf(takesRivalsDelete),
	},
}

// takesGreatestRank goes by ranks in the wrong order.
func takesGreatestRank(q *line) {
	q.order = func(a, b string) int { return cmp.Or(cmp.Compare(rankOf(b), rankOf(a)), byNumber(a, b)) }
}

// takesFromOldList works on one list until nothing of it is left.
func takesFromOldList(q *line) {
	var left []string
	q.scan = func(names []string) ([]byte, error) {
		for fresh := false; len(left) > 0 || !fresh; {
			if len(left) == 0 {
				left, fresh = names, true
				time.Sleep(20 * time.Millisecond)
				continue
			}
			name := left[0]
			left = left[1:]
			if data, err := q.take(name); !errors.Is(err, zk.ErrNoNode) {
				return data, err
			}
		}
		return nil, errGone
	}
}

// rankedLine is a line that goes by ranks, which stand in the names of the elements.
type rankedLine struct{ *line }

func newRankedLine(conn *zk.Conn, replace func(*line)) rankedLine {
	return rankedLine{newLine(conn, func(q *line) {
		q.order = func(a, b string) int { return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), byNumber(a, b)) }
		if replace != nil {
			replace(q)
		}
	})}
}

func (q rankedLine) offer(data []byte, rank int64) error {
	q.prefix = fmt.Sprintf("n%014d-", rank+1)
	return q.add(data)
}

// rankOf reads the rank back.
func rankOf(name string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "n"), "-")
	rank, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic(err) // it is no name of an element
	}
	return rank - 1
}

type priorityLine struct{ rankedLine }

func priorityQueueOf(replace func(*line)) scenario.Workload {
	return beside(object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
		return priorityLine{newRankedLine(env.Conn, replace)}
	}).Named(""), queueDir)
}

func (q priorityLine) Offer(_ context.Context, data []byte, priority int32) error {
	return q.offer(data, int64(priority))
}

type delayLine struct{ rankedLine }

func delayQueueOf(replace func(*line)) scenario.Workload {
	return beside(object.DelayQueue(func(env object.Env) object.DelayQueuer {
		return delayLine{newRankedLine(env.Conn, func(q *line) {
			q.scan = q.firstDue
			q.await = awaitSoon
			if replace != nil {
				replace(q)
			}
		})}
	}).Named(""), queueDir)
}

func (q delayLine) Offer(_ context.Context, data []byte, due time.Time) error {
	return q.offer(data, due.UnixMilli())
}

// firstDue takes the first of the elements that are due.
func (q *line) firstDue(names []string) ([]byte, error) {
	notDue := func(name string) bool { return time.UnixMilli(rankOf(name)).After(time.Now()) }
	return q.first(slices.DeleteFunc(names, notDue))
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
