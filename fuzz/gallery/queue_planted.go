package gallery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var plantedQueues = []Exhibit{
	planted("never wakes a take", liveness, queueOf(func(q *plainQueue) {
		q.await = func(ctx context.Context, _ <-chan zk.Event) error {
			return awaitChange(ctx, nil)
		}
	})),
	planted("loses what it took when cancelled", delivery,
		openQueue(func(q *plainQueue) object.Queuer { return cancelledQueue{q} })),
	planted("deletes before it reads", delivery, queueOf(deletesFirst)),
	planted("takes a rival's delete for its own", linearizable, queueOf(takesRivalsDelete)),
	planted("takes the youngest first", linearizable, queueOf(func(q *plainQueue) {
		q.order = func(a, b string) int { return byNumber(b, a) }
	})),
}

// Wrong steps that all queues have in common.

// offersAgain repeats a create with a lost reply.
func offersAgain(q *plainQueue) {
	q.add = func(data []byte) error {
		return repeat(func() error { return q.addOnce(data) }) // wrong: each may have made one
	}
}

// deletesFirst reads an element after it has removed it.
func deletesFirst(q *plainQueue) {
	q.scan = func(names []string) ([]byte, error) {
		for _, name := range names {
			err := q.removeOnce(queueDir + "/" + name)
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			if err != nil {
				return nil, err
			}
			data, _, err := q.conn.Get(queueDir + "/" + name)
			return data, err
		}
		return nil, errGone
	}
}

// takesRivalsDelete takes a missing node for deleted by its own first try.
func takesRivalsDelete(q *plainQueue) {
	q.remove = func(path string) error {
		err := q.removeOnce(path)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return err
		}
		return remove(q.conn, path)
	}
}

// cancelledQueue looks at its context after it has taken an element.
type cancelledQueue struct{ *plainQueue }

func (q cancelledQueue) Take(ctx context.Context) ([]byte, error) {
	data, err := q.plainQueue.Take(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return data, err
}

// signedNumber is the number of an element, with its sign.
func signedNumber(name string) int32 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(name, "n-"), 10, 32)
	return int32(n)
}

// aroundWrap is a workload of a queue that comes from a server before 3.6: its numbers have just
// wrapped, and the last elements before that are still there.
func aroundWrap(step func(*plainQueue)) scenario.Workload {
	w := queueOf(step)
	w.Nodes, w.Next = maps.Clone(w.Nodes), map[string]int32{queueDir: math.MinInt32}
	for n := range oldElements {
		w.Nodes[oldElement(n)] = fmt.Sprintf("old%d", n)
	}
	return judgedBy(w, "the elements of the beginning are taken first", oldFirst)
}

const oldElements = 3

// oldElement is the path of an element of the beginning.
func oldElement(n int) string { return fmt.Sprintf("%s/n-%d", queueDir, math.MaxInt32-n) }

// oldFirst finds a take of another element while one of the beginning was there.
func oldFirst(e scenario.Evidence) error {
	deleted := map[string]int64{} // step, by path
	for _, ev := range e.History.Server {
		if ev.Kind == linearizability.NodeDeleted {
			deleted[ev.Path] = ev.Step
		}
	}
	for _, op := range e.History.Ops {
		if op.Kind != ops.Take || op.Outcome != linearizability.OpOK ||
			strings.HasPrefix(op.Output, "old") {
			continue
		}
		for n := range oldElements {
			step, gone := deleted[oldElement(n)]
			if !gone || step > op.Return {
				return fmt.Errorf("%s got %s at step %d, and old%d was there", op.Client,
					op.Output, op.Return, n)
			}
		}
	}
	return nil
}
