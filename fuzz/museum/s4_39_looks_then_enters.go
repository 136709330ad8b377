package museum

import "github.com/zksim/zksim/linearizability"

func looksThenEnters() Exhibit {
	return Exhibit{
		ID: "S4-39", Title: "a reader looks, and then goes in",
		Report: sharedLocksGuide,
		Bug: "A reader sees \"0\" in the lock's node, and then makes its own below it. Between the two the last other reader " +
			"leaves and a writer comes: the reader's node is below the writer's.",
		Property: linearizability.Safety,
		Wrong:    drawnOf(func(*drawn) {}), // wrong: it needs a multi that checks the node's version
		Right:    readWriteOf(nil),
	}
}
