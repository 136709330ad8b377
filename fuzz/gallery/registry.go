package gallery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedRegistry = []Exhibit{
	{Slug: "deaf-after-first-removal", Alias: "S4-11",
		Title:  "no new service after the first that has gone",
		Source: Ours, Remark: unreadArticle,
		Bug: "When a service is gone its listeners are to be cleared, but the listeners of the " +
			"directory of services are cleared. From then on a view hears of no new service.",
		Property: answers, Wrong: registryOf(func(r *registry) {
			known, deaf := map[string]bool{}, false
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				for service := range known {
					is := func(i recipes.Instance) bool { return i.Service == service }
					if !slices.ContainsFunc(all, is) {
						delete(known, service)
						deaf = true // wrong: others may come
					}
				}
				for _, i := range all {
					known[i.Service] = known[i.Service] || !deaf
					if known[i.Service] {
						shown = append(shown, i)
					}
				}
				return shown
			}
		}), Right: registryOf()},
	{Slug: "removed-by-wrong-key", Alias: "S4-12", Title: "removed by a key without an entry",
		Source: Ours, Remark: unreadArticle,
		Bug: "The addresses of a service are kept under its name, and one that has gone is " +
			"removed under service and address. There is nothing under that key, so that a view " +
			"shows the dead for ever.",
		Property: answers, Wrong: registryOf(func(r *registry) {
			var shown []recipes.Instance // wrong: nothing is ever removed
			r.show = func(all []recipes.Instance) []recipes.Instance {
				for _, i := range all {
					same := func(s recipes.Instance) bool {
						return s.Service == i.Service && s.ID == i.ID
					}
					if at := slices.IndexFunc(shown, same); at >= 0 {
						shown[at] = i
					} else {
						shown = append(shown, i)
					}
				}
				return shown
			}
		}), Right: registryOf()},
	{Slug: "empty-service-deleted-elsewhere", Alias: "S4-14",
		Title:  "an empty service is deleted elsewhere",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/5",
		Bug: "When the last address of a service has gone its node is to be deleted, but its " +
			"path gets the directory as a prefix once more. There is no such node, and the empty " +
			"service stays.",
		Property: orphans, Wrong: registryOf(func(r *registry) {
			r.before = r.ensureService
			r.after = func(context.Context) error {
				_ = r.conn.Delete(membersDir+r.service(), -1) // wrong: it is a full path already
				return nil
			}
		}), Right: registryOf()},
	{Slug: "parent-deleted-under-newcomer", Alias: "S4-15",
		Title:  "a service is deleted under a newcomer",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/563",
		Bug: "When the last address has gone the node of the service is deleted. A provider that " +
			"has just found it, to make its address below it, fails with NoNode, and does not " +
			"register.",
		Property: invariant,
		Wrong:    sharedService(func(error) bool { return false }), // wrong: it can make another
		Right:    sharedService(func(err error) bool { return errors.Is(err, zk.ErrNoNode) })},
	{Slug: "addresses-added-again", Alias: "S4-18", Title: "every address twice",
		Source: Ours, Remark: unreadArticle,
		Bug: "A service that comes back is given a cache of its addresses, and its earlier cache " +
			"was never closed. Each tells of every address, and each time that is appended to " +
			"the list.",
		Property: invariant, Wrong: namedOnce(func(r *registry) {
			caches, there := map[string]int{}, map[string]bool{}
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				now := map[string]bool{}
				for _, i := range all {
					if now[i.Service] = true; !there[i.Service] {
						there[i.Service] = true
						caches[i.Service]++ // wrong: there may be one
					}
					for range caches[i.Service] {
						shown = append(shown, i)
					}
				}
				there = now
				return shown
			}
		}), Right: namedOnce()},
	{Slug: "unknown-service-is-null", Alias: "S4-19", Title: "an unknown service is null",
		Source: Ours, Remark: unreadArticle,
		Bug: "The addresses of a service are looked up in a map. A service without addresses has " +
			"no list there, not even an empty one, and the caller goes through it all the same.",
		Property: "panic", Wrong: registryOf(func(r *registry) {
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				services := map[string]*[]recipes.Instance{}
				for _, i := range all {
					if services[i.Service] == nil {
						services[i.Service] = new([]recipes.Instance)
					}
					*services[i.Service] = append(*services[i.Service], i)
				}
				for _, name := range []string{"mail", "web"} {
					shown = append(shown, *services[name]...) // wrong: it may be nil
				}
				return shown
			}
		}), Right: registryOf()},
	{Slug: "list-gone-under-its-event", Alias: "S4-13",
		Title:  "an address of a service that has gone",
		Source: Ours, Remark: unreadArticle,
		Bug: "The addresses of each service are in a list, and the lists in a map. One goroutine " +
			"reads an address and adds it to the list of its service. Meanwhile another has " +
			"heard that the service is gone, and has removed the list.",
		Property: "panic", Wrong: keepingLists(func(list *[]recipes.Instance, i recipes.Instance) {
			*list = append(*list, i) // wrong: there may be none
		}), Right: keepingLists(func(list *[]recipes.Instance, i recipes.Instance) {
			if list != nil {
				*list = append(*list, i)
			}
		})},
}

var plantedRegistries = []Exhibit{
	planted("keeps its services", orphans, pickingOf(func(p *picking) {
		p.before = p.ensureService
	})),
	planted("watches only the services", answers, pickingOf(func(p *picking) {
		var first []recipes.Instance
		p.show = func(all []recipes.Instance) []recipes.Instance {
			if len(first) == 0 {
				first = all
			}
			return first
		}
	})),
	planted("never sees new data", answers, pickingOf(func(p *picking) {
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
	})),
	planted("shows no instance without data", answers, pickingOf(func(p *picking) {
		p.show = func(all []recipes.Instance) []recipes.Instance {
			return slices.DeleteFunc(all, func(i recipes.Instance) bool { return len(i.Data) == 0 })
		}
	})),
	planted("picks what it has picked before", answers, pickingOf(func(p *picking) {
		picked := map[string]string{}
		p.pick = func(ctx context.Context, service string) (_ string, err error) {
			if picked[service] == "" {
				picked[service], err = p.pickOne(ctx, service)
			}
			return picked[service], err
		}
	})),
	planted("loses updates", presence, pickingOf(func(p *picking) {
		p.update = func(context.Context, string) error { return nil }
	})),
}

// registry is the service registry of package recipes, with more steps.
type registry struct {
	conn         *zk.Conn
	own          recipes.Instance
	all          *recipes.ServiceRegistry
	registration *recipes.Registration // nil: not registered

	before func(ctx context.Context) error                 // it registers
	after  func(ctx context.Context) error                 // it is gone
	show   func(all []recipes.Instance) []recipes.Instance // the entries of a view
}

// registryOf is a workload of a registry with some steps replaced.
func registryOf(steps ...func(*registry)) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		return with(newRegistry(env), steps)
	}, object.MembershipClaims{Services: true})
}

func newRegistry(env object.Env) *registry {
	service, id, _ := strings.Cut(env.Name, "/")
	nothing := func(context.Context) error { return nil }
	return &registry{
		conn: env.Conn, own: recipes.Instance{Service: service, ID: id},
		all: recipes.NewServiceRegistry(env.Conn, membersDir), before: nothing, after: nothing,
		show: func(all []recipes.Instance) []recipes.Instance { return all },
	}
}

// service is the node of the own service.
func (r *registry) service() string { return membersDir + "/" + r.own.Service }

func (r *registry) ensureService(ctx context.Context) error {
	return recipes.EnsurePath(ctx, r.conn, r.service())
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
		entries = append(entries, entryOf(i))
	}
	return strings.Join(entries, ","), nil
}

func entryOf(i recipes.Instance) string { return fmt.Sprintf("%s/%s=%s", i.Service, i.ID, i.Data) }

// sharedService is a workload of providers of one service. The last one deletes it. A registration
// is repeated after some errors.
func sharedService(again func(error) bool) scenario.Workload {
	const service = membersDir + "/web"
	w := playing(beside(memberOf(), membersDir), func(p *scenario.Player, round int) {
		own := service + "/" + p.Name()
		_ = do(p, ops.Join, "", func(context.Context) error {
			err := register(p.Conn(), service, own)
			for again(err) {
				err = register(p.Conn(), service, own)
			}
			return err
		})
		p.Hold(scenario.At("hold", round), nil)
		for _, path := range []string{own, service} {
			_ = p.Conn().Delete(path, -1) // it may be gone, or not be empty
		}
	})
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// register makes the service, if need be, and the own node.
func register(conn *zk.Conn, service, own string) error {
	_, err := conn.Create(service, nil, 0, acl)
	if ignore(err, zk.ErrNodeExists) != nil {
		return err
	}
	_, err = conn.Create(own, nil, zk.FlagEphemeral, acl)
	return ignore(err, zk.ErrNodeExists)
}

// namedOnce is a workload of a registry with one condition: a view names each address once.
func namedOnce(steps ...func(*registry)) scenario.Workload {
	w := registryOf(steps...)
	return judgedBy(w, "a view names each address once", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			entries := slices.Sorted(strings.SplitSeq(op.Output, ","))
			if op.Kind == ops.View && len(slices.Compact(slices.Clone(entries))) < len(entries) {
				return fmt.Errorf("%s was shown %s at step %d", op.Client, op.Output, op.Return)
			}
		}
		return nil
	})
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
