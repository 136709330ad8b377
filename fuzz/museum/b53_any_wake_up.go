package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func anyWakeUp() Exhibit {
	return Exhibit{
		ID: "B53", Title: "any wake-up opens the barrier",
		Report: "https://github.com/apache/curator/issues/1290",
		Bug: "A member waits with a timeout, and goes in if it was woken before that is over. But its watch fires when somebody " +
			"else comes, too, or when the session ends, and then nobody has said that all are there.",
		Property: linearizability.Safety,
		Wrong: gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers
			g.await = func(ctx context.Context, change <-chan zk.Event) bool {
				select {
				case <-change:
					return true // wrong: it may tell of anything
				case <-ctx.Done():
					return false
				}
			}
		}),
		Right:  doubleBarrier(),
		Script: oneRound,
	}
}

// oneRound is a script of one round, for objects that are good for one.
var oneRound = scenario.Script{Clients: 3, Rounds: 1}
