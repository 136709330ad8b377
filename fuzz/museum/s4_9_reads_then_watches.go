package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func readsThenWatches() Exhibit {
	return Exhibit{
		ID: "S4-9", Title: "read first, watched a moment later",
		Report: "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#ch_zkWatches",
		Bug: "The node is read, and then watched by another request, whose answer nobody looks at. A change between the two " +
			"is in neither.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				data, stat, err := m.conn.Get(mirrored)
				if err != nil {
					return m.readAndWatch()
				}
				_, _, change, err := m.conn.ExistsW(mirrored) // wrong: what it tells is newer
				return recipes.CachedNode{Path: mirrored, Data: data, Stat: *stat}, change, err
			}
		}),
		Right: mirrorOf(nil),
	}
}
