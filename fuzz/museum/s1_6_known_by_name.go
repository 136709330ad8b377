package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func knownByName() Exhibit {
	return Exhibit{
		ID: "S1-6", Title: "the own node of an earlier session",
		Report: "https://github.com/apache/dubbo/issues/5125",
		Bug: "NodeExists, and the data says that it is this client's node. It is that of its earlier session, which has ended, " +
			"and the server is about to remove it: the client owns the lock by a node that is as good as gone.",
		Property: linearizability.Safety,
		Wrong: singleOf(func(l *single) {
			l.mine = func(_ bool, data []byte, _ *zk.Stat) bool { return string(data) == l.name } // wrong: of which session?
		}),
		Right: singleOf(nil),
	}
}
