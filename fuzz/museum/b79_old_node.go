package museum

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func oldNode() Exhibit {
	return Exhibit{
		ID: "B79", Title: "the node of the session before is taken for the own one",
		Report: "https://github.com/apache/dubbo/issues/5125", See: []string{"S4-17", "KAFKA-1387", "CURATOR pull request 50"},
		Bug: "In a new session the node is there already, so all is well. But it is of the session before: the server deletes " +
			"it a moment later, and nobody registers again.",
		Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) {
			known := false
			g.theirs = func(stat *zk.Stat) bool {
				known = g.ofAnotherSession(stat)
				return false // wrong: it will go with its session
			}
			await := g.await
			g.await = func(ctx context.Context, change <-chan zk.Event) error {
				if known {
					<-ctx.Done() // all is well, for ever
				}
				return await(ctx, change)
			}
		}),
		Right: groupOf(nil),
	}
}
