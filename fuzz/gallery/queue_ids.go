package gallery

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedIDQueues = []Exhibit{
	{
		Title: "removes one of several", Property: linearizability.Delivery,
		Wrong: idQueueOf(idLine{one: true}),
	},
	{
		Title: "counts what a rival has taken", Property: linearizability.Delivery,
		Wrong: idQueueOf(idLine{seen: true}),
	},
	{
		Title: "removes other ids", Property: linearizability.Delivery,
		Wrong: idQueueOf(idLine{any: true}),
	},
	{
		Title: "says that it has failed", Property: linearizability.Delivery,
		Wrong: idQueueOf(idLine{calm: true}),
	},
	{Title: "orders by ids", Property: linearizability.Order, Wrong: idQueueOf(idLine{byID: true})},
}

// idLine is a line whose elements have ids, by which they can be removed. It is right
// with the zero flags.
type idLine struct {
	*line
	one  bool // removes one element of an id only
	seen bool // counts what it has seen, not what it has removed
	any  bool // removes elements of other ids, too
	calm bool // says of a removal with a lost reply that it has failed
	byID bool // orders by whole names
}

func idQueueOf(bad idLine) scenario.Workload {
	return beside(object.IDQueue(func(env object.Env) object.IDQueuer {
		q := bad
		q.line = newLine(env.Conn, nil)
		if q.byID {
			q.order = strings.Compare
		}
		return q
	}).Named(""), queueDir)
}

func (q idLine) Offer(_ context.Context, id string, data []byte) error {
	q.prefix = "n-" + id + "-"
	return q.add(data)
}

func (q idLine) Remove(_ context.Context, id string) (int, error) {
	names, _, err := q.conn.Children(queueDir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		if !q.any && !strings.HasPrefix(name, "n-"+id+"-") || q.one && n > 0 {
			continue
		}
		err := q.removeOnce(queueDir + "/" + name)
		switch {
		case err == nil || errors.Is(err, zk.ErrNoNode) && q.seen:
			n++
		case errors.Is(err, zk.ErrNoNode):
		case q.calm:
			return 0, err
		default:
			return 0, errors.Join(recipes.ErrAmbiguous, err)
		}
	}
	return n, nil
}
