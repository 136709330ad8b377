package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func versionFour() Exhibit {
	return Exhibit{
		ID: "S4-2", Title: "version 4, whatever it is",
		Report: curatorCaches,
		Bug: "The sample updates a setting if its version is 4, and so does the code that was made of it. Each update is refused " +
			"but one, and that one whatever its caller has seen.",
		Property: linearizability.Linearizability,
		Wrong: centerOf(func(c *center) {
			c.update = func(ctx context.Context, key string, value []byte, _ int32) error {
				return c.ConfigCenter.Update(ctx, key, value, 4) // wrong: the version that was seen
			}
		}),
		Right: centerOf(nil),
	}
}
