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
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedRegistry = []Exhibit{
	{
		Slug: "deaf-after-first-removal", Alias: "S4-11",
		Title:  "no new service after the first that has gone",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "When a service is gone its listeners are to be cleared, and what is cleared are " +
			"those of the directory of services. From then on a view hears of no new service.",
		Property: linearizability.Answers,
		Wrong: registryOf(func(r *registry) {
			known, deaf := map[string]bool{}, false
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				for service := range known {
					if !slices.ContainsFunc(all, func(i recipes.Instance) bool { return i.Service == service }) {
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
		}),
		Right: registryOf(nil),
	},
	{
		Slug: "removed-by-wrong-key", Alias: "S4-12",
		Title:  "removed by a key that nobody has",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "The addresses of a service are kept under its name, and one that has gone is removed " +
			"under service and address. There is nothing under that key, so that a view shows the " +
			"dead for ever.",
		Property: linearizability.Answers,
		Wrong: registryOf(func(r *registry) {
			var shown []recipes.Instance // wrong: nothing is ever removed
			r.show = func(all []recipes.Instance) []recipes.Instance {
				for _, i := range all {
					at := slices.IndexFunc(shown, func(s recipes.Instance) bool { return s.Service == i.Service && s.ID == i.ID })
					if at < 0 {
						shown = append(shown, i)
					} else {
						shown[at] = i
					}
				}
				return shown
			}
		}),
		Right: registryOf(nil),
	},
	{
		Slug: "empty-service-deleted-elsewhere", Alias: "S4-14",
		Title:  "an empty service is deleted elsewhere",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/5",
		Bug: "When the last address of a service has gone its node is to be deleted, by a path to " +
			"which the directory is prefixed once more. There is no such node, and the empty " +
			"service stays.",
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
	},
	{
		Slug: "parent-deleted-under-newcomer", Alias: "S4-15",
		Title:  "the service goes while somebody comes",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/563",
		Bug: "When the last address has gone the node of the service is deleted. A provider that " +
			"has just found it, to make its address below it, fails with NoNode, and does not " +
			"register.",
		Property: scenario.InvariantProperty,
		Wrong:    sharedService(func(error) bool { return false }), // wrong: it can make another
		Right:    sharedService(func(err error) bool { return errors.Is(err, zk.ErrNoNode) }),
	},
	{
		Slug: "addresses-added-again", Alias: "S4-18",
		Title:  "every address twice",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "A service that comes back is given a cache of its addresses, and the one of before " +
			"has never been closed. Each tells of every address, and each time that is appended " +
			"to the list.",
		Property: scenario.InvariantProperty,
		Wrong: namedOnce(func(r *registry) {
			caches, there := map[string]int{}, map[string]bool{}
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				now := map[string]bool{}
				for _, i := range all {
					if now[i.Service] = true; !there[i.Service] {
						there[i.Service] = true
						caches[i.Service]++ // wrong: there may be one
					}
					shown = append(shown, slices.Repeat([]recipes.Instance{i}, caches[i.Service])...)
				}
				there = now
				return shown
			}
		}),
		Right: namedOnce(nil),
	},
	{
		Slug: "unknown-service-is-null", Alias: "S4-19",
		Title:  "a service that nobody knows",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "The addresses of a service are looked up in a map. Of a service that has none yet, " +
			"or none any more, there is no list, not even an empty one, and the caller goes " +
			"through it all the same.",
		Property: "panic",
		Wrong: registryOf(func(r *registry) {
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
		}),
		Right: registryOf(nil),
	},
}

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
		r := newRegistry(env)
		if replace != nil {
			replace(r)
		}
		return r
	}, object.MembershipClaims{Services: true}).Named("")
}

func newRegistry(env object.Env) *registry {
	service, id, _ := strings.Cut(env.Name, "/")
	r := &registry{
		conn: env.Conn, own: recipes.Instance{Service: service, ID: id},
		all: recipes.NewServiceRegistry(env.Conn, membersDir),
	}
	nothing := func(context.Context) error { return nil }
	r.before, r.after = nothing, nothing
	r.show = func(all []recipes.Instance) []recipes.Instance { return all }
	return r
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

// sharedService is a workload of providers of one service, of whom the last deletes it;
// again tells of which errors a registration is done again.
func sharedService(again func(error) bool) scenario.Workload {
	const service = membersDir + "/web"
	w := beside(groupOf(nil), membersDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		own := service + "/" + p.Name()
		for round := range s.Rounds {
			_ = p.Do(ops.Join, "", func(context.Context) (linearizability.Result, error) {
				err := register(p.Conn(), service, own)
				for again(err) {
					err = register(p.Conn(), service, own)
				}
				return linearizability.Result{}, err
			})
			p.Hold(scenario.At("hold", round), nil)
			for _, path := range []string{own, service} {
				_ = p.Conn().Delete(path, -1) // it may be gone, or not be empty
			}
		}
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// register makes the service, if need be, and the own node.
func register(conn *zk.Conn, service, own string) error {
	_, err := conn.Create(service, nil, 0, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if _, err = conn.Create(own, nil, zk.FlagEphemeral, acl); errors.Is(err, zk.ErrNodeExists) {
		err = nil
	}
	return err
}

// namedOnce is a workload of a registry of whose views nothing more is asked than that.
func namedOnce(replace func(*registry)) scenario.Workload {
	return judgedBy(registryOf(replace), "a view names each address once", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			entries := strings.Split(op.Output, ",")
			slices.Sort(entries)
			if op.Kind == ops.View && len(slices.Compact(slices.Clone(entries))) < len(entries) {
				return fmt.Errorf("%s was shown %s at step %d", op.Client, op.Output, op.Return)
			}
		}
		return nil
	})
}
