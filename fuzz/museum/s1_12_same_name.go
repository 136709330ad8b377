package museum

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func sameName() Exhibit {
	return Exhibit{
		ID: "S1-12", Title: "two members of one name",
		Report: barrierGuide,
		Bug: "A member's node is named after its process, and a node that is there is taken for the own one of before. " +
			"In containers all processes are number 1: they share one node, and are never enough.",
		Property: linearizability.Liveness,
		Wrong: gatheringOf(func(g *gathering) {
			g.join = func() error {
				g.own = gatheringDir + "/m-1"
				_, err := g.conn.Create(g.own, nil, zk.FlagEphemeral, acl)
				if errors.Is(err, zk.ErrNodeExists) {
					return nil // wrong: it may be another's
				}
				return err
			}
		}),
		Right:  doubleBarrier(),
		Script: oneRound,
	}
}
