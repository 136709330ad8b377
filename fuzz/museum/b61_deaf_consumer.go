package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func deafConsumer() Exhibit {
	return Exhibit{
		ID: "B61", Title: "the consumer that lost its watch with its session",
		Report: "https://github.com/apache/curator/issues/1140", See: []string{"kazoo's LockingQueue", "S0-19"},
		Bug: "A consumer waits for the event that the children have changed, and listens to no other. When its session ends " +
			"its watch goes with it; nothing tells of what is offered from then on.",
		Property: linearizability.Liveness,
		Wrong: lineOf(func(q *line) {
			q.await = func(ctx context.Context, change <-chan zk.Event) error {
				select {
				case ev := <-change:
					if ev.Type == zk.EventNodeChildrenChanged {
						return nil
					}
					<-ctx.Done() // wrong: the watch is gone
				case <-ctx.Done():
				}
				return ctx.Err()
			}
		}),
		Right:  queue(),
		Script: scenario.Script{Clients: 2, Rounds: 4}, // one offers, one takes
	}
}
