package museum

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func goneForGood() Exhibit {
	return Exhibit{
		ID: "B74", Title: "what is deleted is not watched any more",
		Report: "https://github.com/python-zk/kazoo/issues/58",
		Bug: "The node is read again at each event of its watch. When it is deleted there is nothing to read, and no watch is left " +
			"by a read of nothing: a node that is made in its place is not seen.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				if m.now.Path == "" {
					return m.readAndWatch() // until it is there
				}
				data, stat, change, err := m.conn.GetW(mirrored)
				if errors.Is(err, zk.ErrNoNode) {
					return recipes.CachedNode{}, nil, nil // wrong: it may come back
				}
				if err != nil {
					return recipes.CachedNode{}, nil, err
				}
				return recipes.CachedNode{Path: mirrored, Data: data, Stat: *stat}, change, nil
			}
		}),
		Right: mirrorOf(nil),
	}
}
