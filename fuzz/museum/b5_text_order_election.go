package museum

import "github.com/zksim/zksim/linearizability"

func textOrderElection() Exhibit {
	return Exhibit{
		ID: "B5", Title: "every newcomer is elected",
		Report: "https://github.com/python-zk/kazoo/issues/730",
		Bug: "An election on numbers that are compared as text. After the counter has wrapped each new candidate has the " +
			"smallest text and is leader at once, while the old one leads on.",
		Property: linearizability.Safety,
		Wrong:    wrapped(electionOf(func(l *naked) { l.order = byText })),
		Right:    wrapped(electionOf(nil)),
	}
}
