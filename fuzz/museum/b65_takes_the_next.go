package museum

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func takesTheNext() Exhibit {
	return Exhibit{
		ID: "B65", Title: "the element whose deletion got lost",
		Report: "https://github.com/python-zk/kazoo/blob/master/kazoo/recipe/queue.py",
		See:    []string{"S0-15", "DistributedQueue of the Apache recipes"},
		Bug: "The reply to the delete is lost, and all is done again: the element is gone, so somebody else must have taken it, " +
			"and the next one is returned. Nobody has the first.",
		Property: linearizability.Delivery,
		Wrong: lineOf(func(q *line) {
			q.remove = func(path string) (err error) {
				for range attempts {
					if err = q.removeOnce(path); err == nil || errors.Is(err, zk.ErrNoNode) {
						return err // wrong: it may have been this one's
					}
				}
				return err
			}
		}),
		Right: queue(),
	}
}
