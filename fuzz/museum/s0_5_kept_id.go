package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func keptID() Exhibit {
	return Exhibit{
		ID: "S0-5", Title: "the id outlives its node",
		Report: writeLockSource,
		Bug: "The session ends, and the node with it, but WriteLock keeps the id. Nothing in the list is before it, and it is not " +
			"the first either: it does not own the lock, sets no watch, and is never woken.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				below := ""
				for _, name := range queue {
					if bySequence(name, l.own) < 0 {
						below = name
					}
				}
				switch {
				case below != "":
					return below, nil
				case len(queue) > 0 && queue[0] == l.own:
					return "", l.confirm()
				}
				return nobody, nil // wrong: the own node is gone
			}
			l.await = func(ctx context.Context, ahead string) {
				if ahead == nobody {
					<-ctx.Done()
					return
				}
				l.awaitDeletion(ctx, ahead)
			}
		}),
		Right: lockOf(nil),
	}
}

// nobody is whom those wait for who have set no watch.
const nobody = "nobody"
