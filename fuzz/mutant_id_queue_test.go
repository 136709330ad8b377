package fuzz_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// badIDQueue is the get-then-delete queue with the id in the names, and with one
// defect more for each flag.
type badIDQueue struct {
	seqQueue
	bad idDefects
}

type idDefects struct {
	one  bool // removes one element of an id only
	seen bool // counts what it has seen, not what it has removed
	any  bool // removes elements of other ids, too
	calm bool // says of a removal with a lost reply that it has failed
}

func (q *badIDQueue) Offer(ctx context.Context, id string, data []byte) error {
	q.seqQueue.prefix = "n-" + id + "-"
	return q.seqQueue.Offer(ctx, data)
}

func (q *badIDQueue) Remove(_ context.Context, id string) (int, error) {
	names, _, err := q.conn.Children("/queue")
	if err != nil {
		return 0, ignored(err)
	}
	n := 0
	for _, name := range names {
		if !q.bad.any && !strings.HasPrefix(name, "n-"+id+"-") || q.bad.one && n > 0 {
			continue
		}
		err := q.conn.Delete("/queue/"+name, -1)
		switch {
		case err == nil || errors.Is(err, zk.ErrNoNode) && q.bad.seen:
			n++
		case errors.Is(err, zk.ErrNoNode):
		case q.bad.calm:
			return 0, err
		default:
			return 0, errors.Join(recipes.ErrAmbiguous, err)
		}
	}
	return n, nil
}

func TestMutantIDQueuesAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      idDefects
		property string
	}{
		{"removes one of several", idDefects{one: true}, linearizability.Delivery},
		{"counts what a rival has taken", idDefects{seen: true}, linearizability.Delivery},
		{"removes other ids", idDefects{any: true}, linearizability.Delivery},
		{"says that it has failed", idDefects{calm: true}, linearizability.Delivery},
		{"orders by ids", idDefects{}, linearizability.Order},
	} {
		t.Run(m.about, func(t *testing.T) {
			findsMutant(t, object.IDQueue(func(env object.Env) object.IDQueuer {
				return &badIDQueue{seqQueue{conn: env.Conn}, m.bad}
			}).Named("mutant"), m.property)
		})
	}
}
