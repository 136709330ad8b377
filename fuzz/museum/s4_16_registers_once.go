package museum

import "github.com/zksim/zksim/linearizability"

func registersOnce() Exhibit {
	return Exhibit{
		ID: "S4-16", Title: "registered once and for all",
		Report: "https://github.com/apache/curator/issues/618", // CURATOR-97
		Bug: "A provider registers when it starts. When its session ends the node goes, and though it has a new session soon " +
			"and works as before, nobody finds it.",
		Property: linearizability.Presence,
		Wrong:    groupOf(func(g *attendant) { g.guarded = false }), // wrong: each session needs a node
		Right:    groupOf(nil),
	}
}
