package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func watchOnNothing() Exhibit {
	return Exhibit{
		ID: "B6", Title: "waits for a node that is gone",
		Report: "https://github.com/apache/helix/pull/44", See: []string{"S0-3", "S3-5", "kazoo PR 490"},
		Bug: "The predecessor goes between the list and the look at it. Nobody asks whether it was there when the watch " +
			"was set, so the waiter waits for a deletion that has been.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.await = func(ctx context.Context, ahead string) {
				_, _, gone, err := l.conn.ExistsW(l.path(ahead)) // wrong: whether it exists is not asked
				if err != nil {
					return
				}
				select {
				case <-gone:
				case <-ctx.Done():
				}
			}
		}),
		Right: lockOf(nil),
	}
}
