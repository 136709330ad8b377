package museum

import (
	"slices"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func wrongKey() Exhibit {
	return Exhibit{
		ID: "S4-12", Title: "removed by a key that nobody has",
		Report: curatorCaches,
		Bug: "The addresses of a service are kept under its name, and one that has gone is removed under service and address. " +
			"There is nothing under that key, so that a view shows the dead for ever.",
		Property: linearizability.Answers,
		Wrong: registryOf(func(r *registry) {
			var shown []recipes.Instance // wrong: nothing is ever removed
			r.show = func(all []recipes.Instance) []recipes.Instance {
				for _, i := range all {
					at := slices.IndexFunc(shown, func(s recipes.Instance) bool { return s.Service == i.Service && s.ID == i.ID })
					if at < 0 {
						shown = append(shown, i)
					} else {
						shown[at] = i
					}
				}
				return shown
			}
		}),
		Right: registryOf(nil),
	}
}
