package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func timeoutLeaves() Exhibit {
	return Exhibit{
		ID: "B31", Title: "a timeout leaves the node",
		Report: "https://github.com/zk-ruby/zk/issues/49", See: []string{"S0-9", "S3-4"},
		Bug: "An acquire that times out returns, and its node stays in the queue. When its turn comes the lock belongs to " +
			"nobody, and nobody gets it while that session lives.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				l.own = "" // wrong: forgotten, not deleted
				return ctx.Err()
			}
		}),
		Right: lockOf(nil),
	}
}
