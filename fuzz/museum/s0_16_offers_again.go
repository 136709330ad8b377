package museum

import "github.com/zksim/zksim/linearizability"

func offersAgain() Exhibit {
	return Exhibit{
		ID: "S0-16", Title: "an element is offered twice",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Queues",
		Bug: "The reply to the create is lost, and it is sent again. The element has no name by which the first one could be " +
			"found, so it is in the queue twice.",
		Property: linearizability.Delivery,
		Wrong: lineOf(func(q *line) {
			q.add = func(data []byte) (err error) {
				for range attempts {
					if err = q.addOnce(data); err == nil {
						return nil
					}
				}
				return err // wrong: each may have made one
			}
		}),
		Right: queue(),
	}
}
