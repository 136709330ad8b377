package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/zksim/zksim/linearizability"
)

var plantedMembership = []Exhibit{
	{
		Title: "comes back after it has left", Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) { g.leave = g.remove }),
	},
	{
		Title: "does not leave", Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) { g.leave = func() error { return nil } }),
	},
	{
		Title: "looks only once", Property: linearizability.Answers,
		Wrong: groupOf(func(g *attendant) {
			var seen []string
			g.view = func(ctx context.Context) (_ []string, err error) {
				if seen == nil {
					seen, err = g.list(ctx)
				}
				return slices.Clone(seen), err
			}
		}),
	},
	{
		Title: "deletes all others", Property: linearizability.Safety,
		Wrong: groupOf(func(g *attendant) {
			g.view = func(ctx context.Context) ([]string, error) {
				names, err := g.list(ctx)
				for _, name := range names {
					if name != g.name {
						err = errors.Join(err, gone(g.conn.Delete(membersDir+"/"+name, -1)))
					}
				}
				return names, err
			}
		}),
	},
	{
		Title: "never answers", Property: linearizability.Liveness,
		Wrong: groupOf(func(g *attendant) {
			g.view = func(ctx context.Context) ([]string, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}),
	},
}
