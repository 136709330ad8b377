package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func fallsWithItsMaker() Exhibit {
	return Exhibit{
		ID: "S1-8", Title: "the barrier falls with its maker",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_eventHandles",
		Bug: "So that a barrier does not outlive who put it up, its node is an ephemeral. When that session ends, all who " +
			"wait go on, though nobody has said that they may.",
		Property: linearizability.Delivery,
		Wrong: object.Barrier(func(env object.Env) object.Barrierer {
			return mortalBarrier{recipes.NewBarrier(env.Conn, barrierPath), env.Conn}
		}).Named(""),
		Right: builtIn("barrier", "recipes.Barrier"),
	}
}

// mortalBarrier is a barrier that is an ephemeral.
type mortalBarrier struct {
	*recipes.Barrier
	conn *zk.Conn
}

// The nodes of a barrier, as its workload has them.
const (
	barriersDir = "/barriers"
	barrierPath = barriersDir + "/b"
)

func (b mortalBarrier) Set(ctx context.Context) error {
	if err := recipes.EnsurePath(ctx, b.conn, barriersDir); err != nil {
		return err
	}
	_, err := b.conn.Create(barrierPath, nil, zk.FlagEphemeral, acl) // wrong: it goes with the session
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
