package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func doubledPath() Exhibit {
	return Exhibit{
		ID: "S4-14", Title: "an empty service is deleted elsewhere",
		Report: curatorCaches,
		Bug: "When the last address of a service has gone its node is to be deleted, by a path to which the directory is " +
			"prefixed once more. There is no such node, and the empty service stays.",
		Property: linearizability.Orphans,
		Wrong: registryOf(func(r *registry) {
			service := membersDir + "/" + r.own.Service
			r.before = func(ctx context.Context) error { return recipes.EnsurePath(ctx, r.conn, service) }
			r.after = func(context.Context) error {
				_ = r.conn.Delete(membersDir+service, -1) // wrong: it is a full path already
				return nil
			}
		}),
		Right: registryOf(nil),
	}
}
