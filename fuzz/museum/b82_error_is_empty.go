package museum

import "github.com/zksim/zksim/linearizability"

func errorIsEmpty() Exhibit {
	return Exhibit{
		ID: "B82", Title: "what cannot be read is gone",
		Report: "https://github.com/vitessio/vitess/issues/15632",
		Bug: "A view is refreshed just when the connection is lost. The error is taken for an empty list, and all members for " +
			"having left.",
		Property: linearizability.Answers,
		Wrong: groupOf(func(g *attendant) {
			g.view = func() ([]string, error) {
				names, _ := g.list() // wrong: an error says nothing about them
				return names, nil
			}
		}),
		Right: groupOf(nil),
	}
}
