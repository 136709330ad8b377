package museum

import (
	"slices"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func deafAfterRemoval() Exhibit {
	return Exhibit{
		ID: "S4-11", Title: "no new service after the first that has gone",
		Report: curatorCaches,
		Bug: "When a service is gone its listeners are to be cleared, and what is cleared are those of the directory of " +
			"services. From then on a view hears of no new service.",
		Property: linearizability.Answers,
		Wrong: registryOf(func(r *registry) {
			known, deaf := map[string]bool{}, false
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				for service := range known {
					if !slices.ContainsFunc(all, func(i recipes.Instance) bool { return i.Service == service }) {
						delete(known, service)
						deaf = true // wrong: others may come
					}
				}
				for _, i := range all {
					known[i.Service] = known[i.Service] || !deaf
					if known[i.Service] {
						shown = append(shown, i)
					}
				}
				return shown
			}
		}),
		Right: registryOf(nil),
	}
}
