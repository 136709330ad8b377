package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// rankedQueue is a get-then-delete queue that goes by ranks, with one defect more
// for each flag.
type rankedQueue struct {
	seqQueue
	bad rankedDefects
}

type rankedDefects struct {
	fifo      bool // forgets the ranks
	backwards bool // takes the greatest rank first
	cached    bool // works on the list of the last time until nothing of it is left
	early     bool // takes what is not due
	deaf      bool // never wakes when something becomes due
}

func (q *rankedQueue) offer(ctx context.Context, data []byte, rank int64) error {
	q.seqQueue.prefix = fmt.Sprintf("n%014d-", rank+1)
	return q.seqQueue.Offer(ctx, data)
}

// rankOf reads the rank back.
func rankOf(name string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "n"), "-")
	rank, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return rank - 1
}

func (q *rankedQueue) sort(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		order := cmp.Compare(rankOf(a), rankOf(b))
		if q.bad.backwards {
			order = -order
		}
		if order == 0 || q.bad.fifo {
			order = cmp.Compare(a[len(a)-10:], b[len(b)-10:])
		}
		return order
	})
}

// take takes the first element of which ready says that it can be taken.
func (q *rankedQueue) take(ctx context.Context, ready func(rank int64) bool) ([]byte, error) {
	var names []string
	for {
		if !q.bad.cached || len(names) == 0 {
			var changed <-chan zk.Event
			var err error
			names, _, changed, err = q.conn.ChildrenW("/queue")
			if err != nil {
				return nil, err
			}
			q.sort(names)
			if len(names) == 0 || !ready(rankOf(names[0])) {
				if err := q.await(ctx, changed, len(names) > 0); err != nil {
					return nil, err
				}
				names = nil
				continue
			}
			if q.bad.cached && !sleep(ctx, 20*time.Millisecond) {
				return nil, ctx.Err()
			}
		}
		data, err := q.remove("/queue/" + names[0])
		if !errors.Is(err, zk.ErrNoNode) {
			return data, err
		}
		names = names[1:]
	}
}

// await waits for a change, or for a moment if something is to become due.
func (q *rankedQueue) await(ctx context.Context, changed <-chan zk.Event, pending bool) error {
	if !pending || q.bad.deaf {
		return nap(ctx, changed)
	}
	sleep(ctx, 10*time.Millisecond)
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

type badPriorityQueue struct{ rankedQueue }

func (q *badPriorityQueue) Offer(ctx context.Context, data []byte, priority int32) error {
	return q.offer(ctx, data, int64(priority))
}

func (q *badPriorityQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, func(int64) bool { return true })
}

type badDelayQueue struct{ rankedQueue }

func (q *badDelayQueue) Offer(ctx context.Context, data []byte, due time.Time) error {
	return q.offer(ctx, data, due.UnixMilli())
}

func (q *badDelayQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, func(rank int64) bool { return q.bad.early || !time.UnixMilli(rank).After(time.Now()) })
}

func TestMutantPriorityAndDelayQueuesAreFound(t *testing.T) {
	t.Parallel()
	priority := func(bad rankedDefects, of queueDefects) scenario.Workload {
		return object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
			return &badPriorityQueue{rankedQueue{seqQueue{conn: env.Conn, bad: of}, bad}}
		}).Named("mutant")
	}
	delay := func(bad rankedDefects, of queueDefects) scenario.Workload {
		return object.DelayQueue(func(env object.Env) object.DelayQueuer {
			return &badDelayQueue{rankedQueue{seqQueue{conn: env.Conn, bad: of}, bad}}
		}).Named("mutant")
	}
	for _, m := range []struct {
		about    string
		workload scenario.Workload
		property string
	}{
		{"forgets priorities", priority(rankedDefects{fifo: true}, queueDefects{}), linearizability.Order},
		{"takes the least urgent first", priority(rankedDefects{backwards: true}, queueDefects{}), linearizability.Linearizability},
		{"chooses from a list of some time ago", priority(rankedDefects{cached: true}, queueDefects{}), linearizability.Order},
		{"offers again whatever was lost", priority(rankedDefects{}, queueDefects{blindOffer: true}), linearizability.Delivery},
		{"deletes before it reads", priority(rankedDefects{}, queueDefects{deleteFirst: true}), linearizability.Delivery},
		{"takes what is not due", delay(rankedDefects{early: true}, queueDefects{}), linearizability.Order},
		{"takes what is due last first", delay(rankedDefects{backwards: true}, queueDefects{}), linearizability.Order},
		{"never wakes for what becomes due", delay(rankedDefects{deaf: true}, queueDefects{}), linearizability.Liveness},
		{"takes a rival's delete for its own", delay(rankedDefects{}, queueDefects{deafTake: true}), linearizability.Linearizability},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}
