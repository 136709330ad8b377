package museum

import "github.com/zksim/zksim/linearizability"

func unregisterRace() Exhibit {
	return Exhibit{
		ID: "B78", Title: "registered again while it is taken back",
		Report: "https://github.com/apache/curator/issues/685",
		Bug: "To leave, the node is deleted and then the guard is ended that makes it again. The guard is faster: the service " +
			"is gone, and its node is there as long as the session lives.",
		Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) {
			g.leave = func() error {
				if err := g.remove(); err != nil { // wrong: the guard is on its post
					return err
				}
				g.stopGuard()
				return nil
			}
		}),
		Right: group(),
	}
}
