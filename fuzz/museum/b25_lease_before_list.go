package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func leaseBeforeList() Exhibit {
	return Exhibit{
		ID: "B25", Title: "a lease is lost between its create and the list",
		Report: "https://github.com/apache/curator/issues/855", See: []string{"CURATOR-315"},
		Bug: "The node of the lease is made, and the connection breaks while the children are counted. The caller gets an " +
			"error instead of a lease, so nobody can give back what is taken: in the end there are no leases.",
		Property: linearizability.Liveness,
		Wrong:    openSemaphore(func(env object.Env) object.Acquirer { return leakyLeases{env.Conn} }),
		Right:    semaphoreOf(nil),
	}
}

type leakyLeases struct{ conn *zk.Conn }

func (s leakyLeases) Acquire(ctx context.Context) (object.Lease, error) {
	l := newNaked(s.conn, lockDir)
	l.places = 2
	if err := l.join(); err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		if err != nil {
			return nil, err // wrong: the node stays
		}
		if ahead == "" {
			return lease{l}, nil
		}
		l.awaitAnother(ctx, ahead)
	}
	return nil, l.giveUp(ctx)
}
