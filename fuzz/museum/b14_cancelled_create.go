package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func cancelledCreate() Exhibit {
	return Exhibit{
		ID: "B14", Title: "interrupted while the create is under way",
		Report: "https://github.com/apache/curator/issues/600", See: []string{"B15 (CURATOR-62)"},
		Bug: "The caller is interrupted after the server has the request and before the reply is there. It leaves with an " +
			"error, and nobody knows of the node that is made.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return &hurried{conn: env.Conn} }),
		Right:    openLock(func(env object.Env) object.Locker { return &hurried{conn: env.Conn, careful: true} }),
	}
}

// hurried is a lock that does not wait for its create when ctx is done.
type hurried struct {
	conn    *zk.Conn
	careful bool
	lock    *naked
}

func (h *hurried) Lock(ctx context.Context) error {
	l := newNaked(h.conn, lockDir)
	joined := make(chan error, 1)
	go func() { joined <- l.join() }()
	select {
	case err := <-joined:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		if !h.careful {
			return ctx.Err() // wrong: the node may be made yet
		}
		return errors.Join(<-joined, l.giveUp(ctx))
	}
	h.lock = l
	return l.Lock(ctx)
}

func (h *hurried) Unlock(ctx context.Context) error { return h.lock.Unlock(ctx) }
