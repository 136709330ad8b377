package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func leakOnError() Exhibit {
	return Exhibit{
		ID: "B13", Title: "an error after the create leaves the node",
		Report: "https://github.com/Netflix/curator/commit/a4ee4b58", See: []string{"G7", "S3-3", "zk-ruby issue 51"},
		Bug: "The node is there when the list of children, or the watch, fails for good. The error goes to the caller and " +
			"the node stays, so that everybody waits for it, the caller's own next try first of all.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return leaky{newNaked(env.Conn, lockDir)} }),
		Right:    lockOf(nil),
	}
}

type leaky struct{ *naked }

func (l leaky) Lock(ctx context.Context) error {
	l.own = ""
	if err := l.join(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		if err != nil {
			return err // wrong: the node stays
		}
		if ahead == "" {
			return nil
		}
		l.await(ctx, ahead)
	}
	return l.giveUp(ctx)
}
