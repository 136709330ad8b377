package museum

import "github.com/zksim/zksim/linearizability"

func blindRetry() Exhibit {
	return Exhibit{
		ID: "B34", Title: "a create without a GUID is repeated",
		Report: "https://github.com/apache/accumulo/issues/1086", See: []string{"S0-13", "S2-1", "S2-4", "S4-26", "zk-ruby issue 54"},
		Bug: "The node's name has nothing by which its maker could find it again. After a lost reply the create is repeated, " +
			"and the client waits behind its own first node, which nobody will delete.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.naming = func() string { return "z" + marker }
			l.find = func() (bool, error) { return false, nil } // wrong: it may be there
		}),
		Right: lockOf(nil),
	}
}
