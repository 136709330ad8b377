package museum

import (
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func sameVersion() Exhibit {
	return Exhibit{
		ID: "B68", Title: "another node of the same version",
		Report: "https://github.com/apache/curator/issues/911", See: []string{"S4-8"},
		Bug: "A cache takes the same version for the same data. A node that is deleted and made again while it looks elsewhere " +
			"begins at 0 as the one before did: the cache keeps the old data.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.isNew = func(now, read recipes.CachedNode) bool {
				return now.Path != read.Path || now.Stat.Version != read.Stat.Version // wrong: versions begin anew
			}
		}),
		Right: mirrorOf(nil),
	}
}
