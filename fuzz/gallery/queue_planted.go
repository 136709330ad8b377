package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
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
