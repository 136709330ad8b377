package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedRegistries = []Exhibit{
	{Title: "keeps its services", Property: orphans, Wrong: pickingOf(func(p *picking) {
		p.before = p.ensureService
	})},
	{Title: "watches only the services", Property: answers, Wrong: pickingOf(func(p *picking) {
		var first []recipes.Instance
		p.show = func(all []recipes.Instance) []recipes.Instance {
			if len(first) == 0 {
				first = all
			}
			return first
		}
	})},
	{Title: "never sees new data", Property: answers, Wrong: pickingOf(func(p *picking) {
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
	})},
	{Title: "picks what it has picked before", Property: answers, Wrong: pickingOf(func(p *picking) {
		picked := map[string]string{}
		p.pick = func(ctx context.Context, service string) (_ string, err error) {
			if picked[service] == "" {
				picked[service], err = p.pickOne(ctx, service)
			}
			return picked[service], err
		}
	})},
	{Title: "loses updates", Property: presence, Wrong: pickingOf(func(p *picking) {
		p.update = func(context.Context, string) error { return nil }
	})},
}

// picking is a registry with data that can be changed, and a choice of one instance.
type picking struct {
	*registry
	update func(ctx context.Context, data string) error
	pick   func(ctx context.Context, service string) (string, error)
}

// pickingOf is a workload of such a registry with some steps replaced.
func pickingOf(steps ...func(*picking)) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		p := &picking{registry: newRegistry(env)}
		p.update, p.pick = p.updateOwn, p.pickOne
		return with(p, steps)
	}, object.MembershipClaims{Services: true})
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
	if err != nil {
		return "", ignore(err, recipes.ErrNoInstance)
	}
	return entryOf(i), nil
}
