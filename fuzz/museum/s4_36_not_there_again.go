package museum

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func notThereAgain() Exhibit {
	return Exhibit{
		ID: "S4-36", Title: "a member that does not know that it has gone",
		Report: thresholdTutorial,
		Bug: "A member makes its node and then counts. When its session ends the node goes, and nobody makes it again: the " +
			"member waits with the others for one more, and it is that one.",
		Property: linearizability.Liveness,
		Wrong: allEnter(func(g *gathering) {
			look := g.look
			g.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				if errors.Is(err, errGone) {
					err = nil // wrong: it has to come again
				}
				return in, change, err
			}
		}),
		Right:  allEnter(nil),
		Script: oneRound,
	}
}
