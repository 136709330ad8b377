package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func ownNodeExists() Exhibit {
	return Exhibit{
		ID: "S1-5", Title: "the own node is somebody's",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_errorHandlingNote", See: []string{"the simple lock of tutorials"},
		Bug: "The create is applied and its reply lost. The second create says NodeExists, which is taken to mean that " +
			"somebody else has the lock: the client waits for its own node to go.",
		Property: linearizability.Liveness,
		Wrong: singleOf(func(l *single) {
			l.mine = func(made bool, _ []byte, _ *zk.Stat) bool { return made } // wrong: it may be, though the create failed
		}),
		Right: singleOf(nil),
	}
}
