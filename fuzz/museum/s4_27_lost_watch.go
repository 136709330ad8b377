package museum

import "github.com/zksim/zksim/linearizability"

func lostWatch() Exhibit {
	return Exhibit{
		ID: "S4-27", Title: "a loop that ends with an event only",
		Report: turnTutorial,
		Bug: "A member sleeps until its watch has told that the node ahead is deleted. Its session ends, with it the watch and " +
			"its own node; it sleeps on, in a line in which it does not stand.",
		Property: linearizability.Liveness,
		Wrong: turnOf(func(l *naked) {
			l.await = l.awaitDeparture // wrong: the session may end
		}),
		Right: turnOf(nil),
	}
}
