package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func ephemeralParent() Exhibit {
	return Exhibit{
		ID: "S4-37", Title: "readers below an ephemeral",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-834", See: []string{"a design that cannot be built"},
		Bug: "The lock's node is an ephemeral, so that a writer that ends frees it, and each reader has a node below it. " +
			"Ephemerals cannot have children: nobody can ever read.",
		Property: linearizability.Liveness,
		Wrong:    drawnOf(func(l *drawn) { l.flags = zk.FlagEphemeral }), // wrong: it has children
		Right:    readWriteOf(nil),
	}
}
