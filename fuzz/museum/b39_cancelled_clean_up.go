package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func cancelledCleanUp() Exhibit {
	return Exhibit{
		ID: "B39", Title: "clean-up under the context that was cancelled",
		Report: "https://github.com/vitessio/vitess/pull/15757",
		Bug: "The caller's context ends the wait, and is then handed to the request that should delete the node. That refuses " +
			"to begin. The node stays, and with it the lock.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				name := l.own
				l.own = ""
				return l.deleteUnder(ctx, name) // wrong: ctx is done
			}
		}),
		Right: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				name := l.own
				l.own = ""
				_ = l.deleteUnder(context.WithoutCancel(ctx), name) // it ends with the connection only
				return ctx.Err()
			}
		}),
	}
}

// deleteUnder deletes a node while ctx lets it.
func (l *naked) deleteUnder(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.remove(l.path(name))
}
