package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func goneForGood() Exhibit {
	return Exhibit{
		ID: "B74", Title: "what is deleted is not watched any more",
		Report: "https://github.com/python-zk/kazoo/issues/151", See: []string{"kazoo issues 29, 58, 218"},
		Bug: "When the node is deleted there is nothing to read, and no watch is left by a read of nothing. A node that is made " +
			"in its place is not seen.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				node, change, err := m.readAndWatch()
				if err == nil && node.Path == "" && m.now.Path != "" {
					change = nil // wrong: it may come back
				}
				return node, change, err
			}
		}),
		Right: nodeCache(),
	}
}
