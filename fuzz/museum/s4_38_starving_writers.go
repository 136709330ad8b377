package museum

import "github.com/zksim/zksim/linearizability"

func starvingWriters() Exhibit {
	return Exhibit{
		ID: "S4-38", Title: "nobody writes after the first reader",
		Report: sharedLocksGuide,
		Bug: "The first reader makes the lock's node, with \"0\" in it, and a writer needs that there is none. No step of the " +
			"design deletes it when the last reader leaves.",
		Property: linearizability.Liveness,
		Wrong: drawnOf(func(l *drawn) {
			l.lastReader = func() error { return nil } // wrong: somebody must
		}),
		Right: readWriteOf(nil),
	}
}

// sharedLocksGuide is the read-write lock that is right.
const sharedLocksGuide = "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks"
