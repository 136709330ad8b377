package gallery

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedIDQueues = []Exhibit{
	planted("removes one of several", delivery, idQueueOf(idQueue{one: true})),
	planted("counts what a rival has taken", delivery, idQueueOf(idQueue{seen: true})),
	planted("removes other ids", delivery, idQueueOf(idQueue{any: true})),
	planted("removes longer ids that begin like it", delivery,
		object.IDQueue(func(env object.Env) object.IDQueuer {
			return prefixQueue{recipes.NewIDQueue(env.Conn, queueDir)}
		}, object.QueueClaims{Items: queueDir + "/items",
			LeavesAtRest: []string{queueDir + "/*"}})),
	planted("says that it has failed", delivery, idQueueOf(idQueue{assumesFailure: true})),
	planted("orders by ids", order, idQueueOf(idQueue{}, func(q *plainQueue) {
		q.order = strings.Compare
	})),
}

// idQueue is a plain queue with ids, by which elements can be removed. It is right with the zero
// flags.
type idQueue struct {
	*plainQueue
	one            bool // removes one element of an id only
	seen           bool // counts an element that another client has removed
	any            bool // removes elements of other ids, too
	assumesFailure bool // says of a removal with a lost reply that it has failed
}

func idQueueOf(bad idQueue, steps ...func(*plainQueue)) scenario.Workload {
	return beside(object.IDQueue(func(env object.Env) object.IDQueuer {
		q := bad
		q.plainQueue = newQueue(env.Conn, steps...)
		return q
	}), queueDir)
}

func (q idQueue) Offer(_ context.Context, id string, data []byte) error {
	q.prefix = "n-" + id + "-"
	return q.add(data)
}

func (q idQueue) Remove(_ context.Context, id string) (n int, err error) {
	names, _, err := q.conn.Children(queueDir)
	for _, name := range names {
		if !q.any && !strings.HasPrefix(name, "n-"+id+"-") || q.one && n > 0 {
			continue
		}
		err := q.removeOnce(queueDir + "/" + name)
		switch {
		case err == nil || errors.Is(err, zk.ErrNoNode) && q.seen:
			n++
		case errors.Is(err, zk.ErrNoNode):
		case q.assumesFailure:
			return 0, err
		default:
			return 0, errors.Join(recipes.ErrAmbiguous, err)
		}
	}
	return n, err
}

// prefixQueue also removes the elements of ids that are longer by one character.
type prefixQueue struct{ *recipes.IDQueue }

func (q prefixQueue) Remove(ctx context.Context, id string) (int, error) {
	n, err := q.IDQueue.Remove(ctx, id)
	if err != nil {
		return n, err
	}
	more, err := q.IDQueue.Remove(ctx, id+"1")
	if err != nil {
		err = errors.Join(recipes.ErrAmbiguous, err)
	}
	return n + more, err
}
