package gallery

import (
	"context"
	"errors"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedRegistries = []Exhibit{
	{
		Title: "keeps its services", Property: linearizability.Orphans,
		Wrong: pickingOf(func(p *picking) {
			p.before = func(ctx context.Context) error {
				return recipes.EnsurePath(ctx, p.conn, membersDir+"/"+p.own.Service)
			}
		}),
	},
	{
		Title: "watches only the services", Property: linearizability.Answers,
		Wrong: pickingOf(func(p *picking) {
			var first []recipes.Instance
			p.show = func(all []recipes.Instance) []recipes.Instance {
				if len(first) == 0 {
					first = all
				}
				return first
			}
		}),
	},
	{
		Title: "never sees new data", Property: linearizability.Answers,
		Wrong: pickingOf(func(p *picking) {
			first := map[string][]byte{}
			p.show = func(all []recipes.Instance) []recipes.Instance {
				for n, i := range all {
					key := i.Service + "/" + i.ID
					if _, known := first[key]; !known {
						first[key] = i.Data
					}
					all[n].Data = first[key]
				}
				return all
			}
		}),
	},
	{
		Title: "picks what it has picked before", Property: linearizability.Answers,
		Wrong: pickingOf(func(p *picking) {
			picked := map[string]string{}
			p.pick = func(ctx context.Context, service string) (_ string, err error) {
				if picked[service] == "" {
					picked[service], err = p.pickOne(ctx, service)
				}
				return picked[service], err
			}
		}),
	},
	{
		Title: "loses updates", Property: linearizability.Presence,
		Wrong: pickingOf(func(p *picking) {
			p.update = func(context.Context, string) error { return nil }
		}),
	},
}

// picking is a registry whose data can be changed, and that chooses an instance.
type picking struct {
	*registry
	update func(ctx context.Context, data string) error
	pick   func(ctx context.Context, service string) (string, error)
}

// pickingOf is registryOf with these.
func pickingOf(replace func(*picking)) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		p := &picking{registry: newRegistry(env)}
		p.update, p.pick = p.updateOwn, p.pickOne
		if replace != nil {
			replace(p)
		}
		return p
	}, object.MembershipClaims{Services: true}).Named("")
}

func (p *picking) Update(ctx context.Context, data string) error { return p.update(ctx, data) }

func (p *picking) Pick(ctx context.Context, service string) (string, error) {
	return p.pick(ctx, service)
}

func (p *picking) updateOwn(ctx context.Context, data string) error {
	return p.registration.Update(ctx, []byte(data))
}

func (p *picking) pickOne(ctx context.Context, service string) (string, error) {
	i, err := recipes.NewServiceLookup(p.all, service, recipes.RoundRobin()).Next(ctx)
	if errors.Is(err, recipes.ErrNoInstance) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return entryOf(i), nil
}
