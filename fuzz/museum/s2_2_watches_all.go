package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func watchesAll() Exhibit {
	return Exhibit{
		ID: "S2-2", Title: "everybody watches the directory",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks", See: []string{"S1-1", "S4-42"},
		Bug: "Each waiter watches the children of the directory. Whoever comes or goes wakes all of them, though one of them at " +
			"most can go on: the herd effect, quadratic in the number of waiters.",
		Property: linearizability.Herd,
		Wrong: oneAtATime(func(l *naked) {
			l.await = func(ctx context.Context, _ string) {
				_, _, changed, err := l.conn.ChildrenW(l.dir) // wrong: one of them is enough
				if err != nil {
					return
				}
				if ahead, err := l.look(); err != nil || ahead == "" {
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}),
		Right: oneAtATime(nil),
	}
}

// oneAtATime is a workload of a naked lock of which a release wakes one waiter.
func oneAtATime(replace func(*naked)) scenario.Workload {
	claims := claims
	claims.MaxHerd = 1
	return beside(object.Lock(func(env object.Env) object.Locker { return remade(env.Conn, lockDir, replace) }, claims).Named(""), lockDir)
}
