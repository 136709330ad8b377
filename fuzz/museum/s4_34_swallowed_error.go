package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func swallowedError() Exhibit {
	return Exhibit{
		ID: "S4-34", Title: "a count that failed is not made up for",
		Report: thresholdTutorial,
		Bug: "A listener counts the members at each event. If the connection is lost over the count the error is logged, and " +
			"that was it: nobody has watched, so no other event comes.",
		Property: linearizability.Liveness,
		Wrong: allEnter(func(g *gathering) {
			look := g.look
			g.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				if errors.Is(err, zk.ErrConnectionClosed) {
					return false, nil, nil // wrong: there is nothing to wait for
				}
				return in, change, err
			}
		}),
		Right:  allEnter(nil),
		Script: oneRound,
	}
}

// allEnter is a workload of a double barrier that all clients enter, without a limit to
// their patience, so that all have to get in.
func allEnter(replace func(*gathering)) scenario.Workload {
	w := gatheringOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		g := newGathering(p.Conn(), s.Clients, replace)
		p.Persist(func(int) error {
			return p.Do(ops.Enter, "", func(ctx context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, g.Enter(ctx)
			})
		})
	}
	w.Judge = scenario.Invariants()
	return w
}
