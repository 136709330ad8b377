package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func blocksAfterRace() Exhibit {
	return Exhibit{
		ID: "B63", Title: "who loses the race for an element sleeps beside others",
		Report: "https://github.com/python-zk/kazoo/pull/501",
		Bug: "A consumer tries for the first element only. When another has taken that, it waits for the next event, and " +
			"does not look at the elements that are there: if nobody offers more it waits for ever.",
		Property: linearizability.Liveness,
		Wrong: lineOf(func(q *line) {
			lost := false
			q.scan = func(names []string) ([]byte, error) {
				if lost = len(names) > 0; !lost {
					return nil, errGone
				}
				data, err := q.take(names[0])
				if errors.Is(err, zk.ErrNoNode) {
					err = errGone
				}
				return data, err
			}
			q.await = func(ctx context.Context, change <-chan zk.Event) (err error) {
				if lost { // the watch of the list tells of the one that another has taken
					_, _, change, err = q.conn.ChildrenW(queueDir) // wrong: there may be some
				}
				if err != nil {
					return err
				}
				return awaitChange(ctx, change)
			}
		}),
		Right: queue(),
	}
}
