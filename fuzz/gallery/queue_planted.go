package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

var plantedQueues = []Exhibit{
	{
		Title: "never wakes a take", Property: linearizability.Liveness,
		Wrong: lineOf(func(q *line) {
			q.await = func(ctx context.Context, _ <-chan zk.Event) error {
				<-ctx.Done()
				return ctx.Err()
			}
		}),
	},
	{
		Title: "loses what it took when cancelled", Property: linearizability.Delivery,
		Wrong: queueOf(func(q *line) object.Queuer { return cancelledQueue{q} }),
	},
	{
		Title: "deletes before it reads", Property: linearizability.Delivery,
		Wrong: lineOf(deletesFirst),
	},
	{
		Title: "takes a rival's delete for its own", Property: linearizability.Linearizability,
		Wrong: lineOf(takesRivalsDelete),
	},
	{
		Title: "takes the youngest first", Property: linearizability.Linearizability,
		Wrong: lineOf(func(q *line) { q.order = func(a, b string) int { return byNumber(b, a) } }),
	},
}

// Wrong steps that all queues have in common.

// offersAgain repeats a create whose reply was lost.
func offersAgain(q *line) {
	q.add = func(data []byte) (err error) {
		for range attempts {
			if err = q.addOnce(data); err == nil {
				return nil
			}
		}
		return err
	}
}

// deletesFirst reads an element when it has removed it.
func deletesFirst(q *line) {
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

// takesRivalsDelete takes it for its own doing that a repeated delete finds no node.
func takesRivalsDelete(q *line) {
	q.remove = func(path string) (err error) {
		for i := range attempts {
			err = q.removeOnce(path)
			if err == nil || i > 0 && errors.Is(err, zk.ErrNoNode) {
				return nil
			}
			if errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
		return err
	}
}

// cancelledQueue looks at its context when it has taken an element.
type cancelledQueue struct{ *line }

func (q cancelledQueue) Take(ctx context.Context) ([]byte, error) {
	data, err := q.line.Take(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return data, err
}
