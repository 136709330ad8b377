package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func cleanUpOnce() Exhibit {
	return Exhibit{
		ID: "B9", Title: "clean-up as good as it gets",
		Report: "https://github.com/python-zk/kazoo/pull/760",
		Bug: "An acquire that is given up deletes its node, once, and swallows the error. If the connection is lost just " +
			"then and the session lives, the contender stays, and everybody waits behind it.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				_ = l.conn.Delete(l.path(l.own), -1) // wrong: best effort
				l.own = ""
				return ctx.Err()
			}
		}),
		Right: lockOf(nil),
	}
}
