package museum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

func addedAgain() Exhibit {
	return Exhibit{
		ID: "S4-18", Title: "every address twice",
		Report: curatorCaches,
		Bug: "A service that comes back is given a cache of its addresses, and the one of before has never been closed. Each " +
			"tells of every address, and each time that is appended to the list.",
		Property: scenario.InvariantProperty,
		Wrong: namedOnce(func(r *registry) {
			caches, there := map[string]int{}, map[string]bool{}
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				now := map[string]bool{}
				for _, i := range all {
					if now[i.Service] = true; !there[i.Service] {
						there[i.Service] = true
						caches[i.Service]++ // wrong: there may be one
					}
					shown = append(shown, slices.Repeat([]recipes.Instance{i}, caches[i.Service])...)
				}
				there = now
				return shown
			}
		}),
		Right: namedOnce(nil),
	}
}

// namedOnce is a workload of a registry of whose views nothing more is asked than that.
func namedOnce(replace func(*registry)) scenario.Workload {
	return judgedBy(registryOf(replace), "a view names each address once", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			entries := strings.Split(op.Output, ",")
			slices.Sort(entries)
			if op.Kind == ops.View && len(slices.Compact(slices.Clone(entries))) < len(entries) {
				return fmt.Errorf("%s was shown %s at step %d", op.Client, op.Output, op.Return)
			}
		}
		return nil
	})
}
