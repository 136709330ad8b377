package museum

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func staysReady() Exhibit {
	return Exhibit{
		ID: "S1-9", Title: "the barrier stays open",
		Report: barrierGuide,
		Bug: "As drawn, nobody deletes \"ready\" when all have left. Who comes to the next round finds it, and does not " +
			"wait for anybody.",
		Property: linearizability.Safety,
		Wrong:    gatheringOf(nil),
		Right:    doubleBarrier(),
		Script:   scenario.Script{Clients: 3, Rounds: 2},
	}
}

// barrierGuide is where double barriers are described, which teachers draw.
const barrierGuide = "https://zookeeper.apache.org/doc/current/recipes.html#sc_doubleBarriers"
