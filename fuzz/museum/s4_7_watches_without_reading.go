package museum

import (
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func watchesWithoutReading() Exhibit {
	return Exhibit{
		ID: "S4-7", Title: "the watch is set again, and nothing read",
		Report: curatorCaches, See: []string{"kazoo pull request 391"},
		Bug: "After the end of a session the watch is set again in the next one. What has changed between the two is told by " +
			"no event, and the copy stays as it was.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.isNew = func(_, _ recipes.CachedNode) bool { return !m.session } // wrong: it may have changed
		}),
		Right: mirrorOf(nil),
	}
}
