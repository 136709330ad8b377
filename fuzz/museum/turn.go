package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// turnOf is a workload of a line in which each waits for its turn, made of a naked lock
// with some steps replaced.
func turnOf(replace func(*naked)) scenario.Workload {
	open := func(env object.Env) object.Locker { return remade(env.Conn, lockDir, replace) }
	return beside(object.TurnQueue(open, claims).Named(""), lockDir)
}

// turnTutorial is what the take-your-turn queue of tutorials is made of.
const turnTutorial = "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks"

// awaitDeparture waits for the deletion of the node ahead, and for no other event.
func (l *naked) awaitDeparture(ctx context.Context, ahead string) {
	_, _, change, err := l.conn.GetW(l.path(ahead))
	if err != nil {
		return
	}
	select {
	case ev := <-change:
		if ev.Type == zk.EventNodeDeleted {
			return
		}
		<-ctx.Done() // nothing else will come through the same watch
	case <-ctx.Done():
	}
}
