package museum

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// registry is the service registry of package recipes, in which what is shown, and what
// else is done at the beginning and the end, can be done otherwise.
type registry struct {
	conn         *zk.Conn
	own          recipes.Instance
	all          *recipes.ServiceRegistry
	registration *recipes.Registration // nil: not registered

	before func(ctx context.Context) error                 // it registers
	after  func(ctx context.Context) error                 // it is gone
	show   func(all []recipes.Instance) []recipes.Instance // what a view makes of what there is
}

// registryOf is a workload of a registry with some steps replaced, nil for none.
func registryOf(replace func(*registry)) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		service, id, _ := strings.Cut(env.Name, "/")
		r := &registry{conn: env.Conn, own: recipes.Instance{Service: service, ID: id}, all: recipes.NewServiceRegistry(env.Conn, membersDir)}
		nothing := func(context.Context) error { return nil }
		r.before, r.after = nothing, nothing
		r.show = func(all []recipes.Instance) []recipes.Instance { return all }
		if replace != nil {
			replace(r)
		}
		return r
	}, object.MembershipClaims{Services: true}).Named("")
}

func (r *registry) Join(ctx context.Context, data string) error {
	if r.registration == nil {
		r.own.Data = []byte(data)
		r.registration = recipes.NewRegistration(r.conn, membersDir, r.own)
	}
	if err := r.before(ctx); err != nil {
		return err
	}
	return r.registration.Register(ctx)
}

func (r *registry) Leave(ctx context.Context) error {
	if r.registration != nil {
		if err := r.registration.Close(ctx); err != nil {
			return err
		}
		r.registration = nil
	}
	return r.after(ctx)
}

func (r *registry) View(ctx context.Context) (string, error) {
	all, err := r.all.All(ctx)
	if err != nil {
		return "", err
	}
	var entries []string
	for _, i := range r.show(all) {
		entries = append(entries, fmt.Sprintf("%s/%s=%s", i.Service, i.ID, i.Data))
	}
	return strings.Join(entries, ","), nil
}
