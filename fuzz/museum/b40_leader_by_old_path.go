package museum

import "github.com/zksim/zksim/linearizability"

func leaderByOldPath() Exhibit {
	return Exhibit{
		ID: "B40", Title: "leader by the path of an earlier session",
		Report: "https://github.com/apache/curator/issues/1211",
		Bug: "After a reconnect the latch finds its path first in the list and leads. The node is an earlier session's and is " +
			"removed a moment later, when somebody else is elected: two lead.",
		Property: linearizability.Safety,
		Wrong: electionOf(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
		Right: electionOf(nil),
	}
}
