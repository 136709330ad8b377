package museum

import "github.com/zksim/zksim/linearizability"

func keptNode() Exhibit {
	return Exhibit{
		ID: "B17", Title: "acquires through the previous session's node",
		Report: "https://github.com/apache/curator/issues/1121",
		Bug: "The session ends while the client waits, or just before it looks. Its node is still listed, first of all, for " +
			"the server has not cleaned up yet. The client owns the lock by its name until that is removed.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
		Right: lockOf(nil),
	}
}
