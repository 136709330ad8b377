package museum

import "github.com/zksim/zksim/linearizability"

func neverStale() Exhibit {
	return Exhibit{
		ID: "S4-6", Title: "a copy that does not know how old it is",
		Report: curatorCaches,
		Bug: "While there is no connection the copy stays as it was, and says nothing of that. Who asks it cannot tell what is " +
			"so from what has been so.",
		Property: linearizability.Belief,
		Wrong:    mirrorOf(func(m *mirror) { m.stale = func() bool { return false } }), // wrong: it may be cut off
		Right:    mirrorOf(nil),
	}
}

// curatorCaches are what tutorials make configuration centres of.
const curatorCaches = "https://curator.apache.org/docs/recipes-path-cache"
