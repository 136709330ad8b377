package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func checksThenActs() Exhibit {
	return Exhibit{
		ID: "S4-3", Title: "checked, and then written over",
		Report: curatorCaches,
		Bug: "An update asks whether the setting is as its caller has seen it, and then writes whatever there is by then. What " +
			"another has written between the two is lost.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.update = func(ctx context.Context, key string, value []byte, version int32) error {
				entry, there, err := c.Fetch(ctx, key)
				if err == nil && there && entry.Version == version {
					version = recipes.AnyVersion // wrong: the check is one of before
				}
				return c.ConfigCenter.Update(ctx, key, value, version)
			}
		}),
		Right: configCenter(),
	}
}
