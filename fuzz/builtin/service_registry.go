package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
	"github.com/zksim/zksim/recipes"
)

// serviceRegistry is the service registry of package recipes.
type serviceRegistry struct {
	conn         *zk.Conn
	path         string
	own          recipes.Instance
	view         *recipes.ServiceRegistry
	registration *recipes.Registration // nil: not registered
	lookups      map[string][]*recipes.ServiceLookup
	picks        int
}

// twoLevelRegistry is the recommended registry.
func twoLevelRegistry() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		return newServiceRegistry(env)
	}, object.MembershipClaims{
		Recheck: Recheck,
		About:   "service registry with lookup strategies of package recipes", Services: true,
	}).Named("recipes.ServiceRegistry")
}

func newServiceRegistry(env object.Env) *serviceRegistry {
	service, id, _ := strings.Cut(env.Name, "/")
	g := &serviceRegistry{
		conn: env.Conn, path: env.Path, own: recipes.Instance{Service: service, ID: id},
		view:    recipes.NewServiceRegistry(env.Conn, env.Path, recipes.RecheckEvery(Recheck)),
		lookups: map[string][]*recipes.ServiceLookup{},
	}
	draws := uint64(0)
	draw := func(n int) int { draws++; return int(mix.Hash(uint64(id[0]), draws) % uint64(n)) }
	for _, service := range []string{"web", "mail"} {
		for _, s := range []recipes.Strategy{recipes.RoundRobin(), recipes.Random(draw),
			recipes.Sticky(recipes.Random(draw))} {
			g.lookups[service] = append(g.lookups[service],
				recipes.NewServiceLookup(g.view, service, s))
		}
	}
	return g
}

func (g *serviceRegistry) Join(ctx context.Context, data string) error {
	if g.registration == nil {
		g.own.Data = []byte(data)
		g.registration = recipes.NewRegistration(g.conn, g.path, g.own)
	}
	return g.registration.Register(ctx)
}

func (g *serviceRegistry) Update(ctx context.Context, data string) error {
	return g.registration.Update(ctx, []byte(data))
}

func (g *serviceRegistry) Leave(ctx context.Context) error {
	if g.registration == nil {
		return nil
	}
	err := g.registration.Close(ctx)
	if err == nil {
		g.registration = nil
	}
	return err
}

func (g *serviceRegistry) Close(ctx context.Context) error { return g.view.Close(ctx) }

func (g *serviceRegistry) View(ctx context.Context) (string, error) {
	all, err := g.view.All(ctx)
	entries := make([]string, len(all))
	for n, i := range all {
		entries[n] = entry(i)
	}
	return strings.Join(entries, ","), err
}

// Pick asks the strategies in turn.
func (g *serviceRegistry) Pick(ctx context.Context, service string) (string, error) {
	lookups := g.lookups[service]
	g.picks++
	i, err := lookups[g.picks%len(lookups)].Next(ctx)
	switch {
	case errors.Is(err, recipes.ErrNoInstance):
		return "", nil
	case err != nil:
		return "", err
	}
	return entry(i), nil
}

// entry is an instance in the form that the judge reads.
func entry(i recipes.Instance) string { return fmt.Sprintf("%s/%s=%s", i.Service, i.ID, i.Data) }
