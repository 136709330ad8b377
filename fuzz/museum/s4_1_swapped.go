package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func swapped() Exhibit {
	return Exhibit{
		ID: "S4-1", Title: "create sets, and update creates",
		Report: curatorCaches,
		Bug: "The bodies of the two are in each other's place. What is not there cannot be created, as it is not there, and " +
			"what is there cannot be updated, as it is.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.create = func(ctx context.Context, key string, value []byte) error {
				return c.ConfigCenter.Update(ctx, key, value, recipes.AnyVersion) // wrong: this is the other one
			}
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Create(ctx, key, value)
			}
		}),
		Right: centerOf(nil),
	}
}
