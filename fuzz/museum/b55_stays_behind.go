package museum

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func staysBehind() Exhibit {
	return Exhibit{
		ID: "B55", Title: "who gives up stays in the count",
		Report: "https://github.com/apache/curator/issues/838",
		Bug: "Who waits in vain for the others returns and leaves its node. It is counted as long as its session lives: when " +
			"it comes again, it is two.",
		Property: linearizability.Safety,
		Wrong: gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers
			g.giveUp = func() error { return nil } // wrong: the node counts
		}),
		Right:  doubleBarrier(),
		Script: scenario.Script{Clients: 3, Rounds: 2},
	}
}
