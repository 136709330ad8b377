package fuzz_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// memberMutants are deliberately wrong groups and registries, most of them bugs
// that were published, and the property that each of them breaks.
var memberMutants = []struct {
	about    string
	workload scenario.Workload
	property string
}{
	{"joins once and for all", mutantGroup(memberDefects{onlyOnce: true}), linearizability.Presence},
	{"comes back after it has left", mutantGroup(memberDefects{phantom: true}), linearizability.Presence},
	{"does not leave", mutantGroup(memberDefects{stays: true}), linearizability.Presence},
	{"looks only once", mutantGroup(memberDefects{lookOnce: true}), linearizability.Answers},
	{"takes a failed look for an empty group", mutantGroup(memberDefects{deaf: true}), linearizability.Answers},
	{"deletes whoever is not itself", mutantGroup(memberDefects{purge: true}), linearizability.Safety},
	{"never answers", object.Membership(func(env object.Env) object.Roster {
		return silentGroup{&plainGroup{conn: env.Conn, name: env.Name}}
	}).Named("mutant"), linearizability.Liveness},
	{"keeps its services", mutantRegistry(registryDefects{plainParents: true}), linearizability.Orphans},
	{"watches only the services", mutantRegistry(registryDefects{oneLevel: true}), linearizability.Answers},
	{"never sees new data", mutantRegistry(registryDefects{oldData: true}), linearizability.Answers},
	{"picks whom it has picked before", mutantRegistry(registryDefects{stuck: true}), linearizability.Answers},
	{"loses updates", mutantRegistry(registryDefects{noUpdate: true}), linearizability.Presence},
}

func TestMemberMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range memberMutants {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}

// TestSameMembershipWithoutDefectIsRight where there are no faults: what is
// found in the mutants is their defects.
func TestSameMembershipWithoutDefectIsRight(t *testing.T) {
	t.Parallel()
	for _, w := range []scenario.Workload{mutantGroup(memberDefects{}), mutantRegistry(registryDefects{})} {
		holdsUndisturbed(t, w, 2)
	}
}

// TestServicesMayStayOnlyIfEmptiedLate: a late reap that ends long before the end excuses
// no registry that keeps its services.
func TestServicesMayStayOnlyIfEmptiedLate(t *testing.T) {
	w := mutantRegistry(registryDefects{plainParents: true})
	o := run(t, scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1, Plan: plan(t, "late-reap 3s client=b at=1s")})
	if len(o.Result.Missed) > 0 || !breaks(o, linearizability.Orphans) {
		t.Errorf("missed %v; want orphans:\n%s", o.Result.Missed, o.Story())
	}
}

// plainGroup is a group in a few lines: a guard makes the member's node again, and
// a view lists the group at each look. It is right without faults, with one defect
// more for each flag.
type plainGroup struct {
	conn   *zk.Conn
	name   string
	bad    memberDefects
	stop   context.CancelFunc // of the guard; nil: not joined
	idle   chan struct{}
	last   string
	looked bool
}

type memberDefects struct {
	onlyOnce bool // no guard
	phantom  bool // the guard goes on after the member has left
	stays    bool // a leave does nothing
	lookOnce bool // the first view is the last
	deaf     bool // an error is an empty group
	purge    bool // others are deleted
}

func mutantGroup(bad memberDefects) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		return &plainGroup{conn: env.Conn, name: env.Name, bad: bad}
	}).Named("mutant")
}

func (g *plainGroup) path() string { return "/members/" + g.name }

func (g *plainGroup) Join(ctx context.Context, data string) error {
	if err := g.appear(data); err != nil {
		return err
	}
	if g.stop == nil && !g.bad.onlyOnce {
		guard, stop := context.WithCancel(context.WithoutCancel(ctx))
		g.stop, g.idle = stop, make(chan struct{})
		go g.guard(guard, g.idle, data)
	}
	return nil
}

// guard makes the node again whenever it is gone.
func (g *plainGroup) guard(ctx context.Context, idle chan struct{}, data string) {
	defer close(idle)
	for ctx.Err() == nil {
		there, _, changed, err := g.conn.ExistsW(g.path())
		if err == nil && !there {
			err = g.appear(data)
		} else if err == nil {
			select {
			case ev := <-changed:
				if errors.Is(ev.Err, zk.ErrClosing) {
					return
				}
			case <-ctx.Done():
			}
		}
		if err != nil {
			select {
			case <-time.After(200 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

// appear makes the node, unless it is there.
func (g *plainGroup) appear(data string) error {
	if _, err := g.conn.Create("/members", nil, 0, openACL); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, err := g.conn.Create(g.path(), []byte(data), zk.FlagEphemeral, openACL)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, stat, err := g.conn.Get(g.path())
	if err == nil && stat.EphemeralOwner != g.conn.SessionID() {
		err = zk.ErrNodeExists
	}
	return err
}

func ignoring(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

func (g *plainGroup) Leave(context.Context) error {
	if g.bad.stays {
		return nil
	}
	if g.stop != nil && !g.bad.phantom {
		g.stop()
		<-g.idle
		g.stop = nil
	}
	return ignoring(g.conn.Delete(g.path(), -1), zk.ErrNoNode)
}

func (g *plainGroup) View(context.Context) (string, error) {
	if g.looked && g.bad.lookOnce {
		return g.last, nil
	}
	names, _, err := g.conn.Children("/members")
	if err != nil {
		if g.bad.deaf {
			err = nil
		}
		return "", ignoring(err, zk.ErrNoNode)
	}
	slices.Sort(names)
	g.last, g.looked = strings.Join(names, ","), true
	if g.bad.purge {
		for _, name := range names {
			if name != g.name {
				err = errors.Join(err, ignoring(g.conn.Delete("/members/"+name, -1), zk.ErrNoNode))
			}
		}
	}
	return g.last, err
}

// silentGroup joins, and then never again does anything.
type silentGroup struct{ *plainGroup }

func (g silentGroup) View(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// wrongRegistry is the registry of package recipes with something spoiled.
type wrongRegistry struct {
	conn         *zk.Conn
	own          recipes.Instance
	view         *recipes.ServiceRegistry
	registration *recipes.Registration
	bad          registryDefects
	seen         map[string]string
	picked       map[string]string
}

type registryDefects struct {
	plainParents bool // services are persistent nodes
	oneLevel     bool // the instances of a service are listed when it is seen first
	oldData      bool // the data of an instance is that of its first sight
	stuck        bool // a pick is repeated for ever
	noUpdate     bool // updates are forgotten
}

func mutantRegistry(bad registryDefects) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		service, id, _ := strings.Cut(env.Name, "/")
		return &wrongRegistry{conn: env.Conn, own: recipes.Instance{Service: service, ID: id}, bad: bad,
			view: recipes.NewServiceRegistry(env.Conn, "/members"), seen: map[string]string{}, picked: map[string]string{}}
	}, object.MembershipClaims{Services: true}).Named("mutant")
}

func (g *wrongRegistry) Join(ctx context.Context, data string) error {
	if g.registration == nil {
		g.own.Data = []byte(data)
		g.registration = recipes.NewRegistration(g.conn, "/members", g.own)
	}
	if g.bad.plainParents {
		if err := recipes.EnsurePath(ctx, g.conn, "/members/"+g.own.Service); err != nil {
			return err
		}
	}
	return g.registration.Register(ctx)
}

func (g *wrongRegistry) Update(ctx context.Context, data string) error {
	if g.bad.noUpdate {
		return nil
	}
	return g.registration.Update(ctx, []byte(data))
}

func (g *wrongRegistry) Leave(ctx context.Context) error {
	if g.registration == nil {
		return nil
	}
	err := g.registration.Close(ctx)
	if err == nil {
		g.registration = nil
	}
	return err
}

func (g *wrongRegistry) View(ctx context.Context) (string, error) {
	all, err := g.view.All(ctx)
	var entries []string
	for _, i := range all {
		key, data := i.Service+"/"+i.ID, string(i.Data)
		if first, known := g.seen[key]; known && g.bad.oldData {
			data = first
		}
		g.seen[key] = data
		entries = append(entries, key+"="+data)
	}
	shown := strings.Join(entries, ",")
	if first, known := g.seen[""]; known && g.bad.oneLevel {
		return first, err
	} else if shown != "" {
		g.seen[""] = shown
	}
	return shown, err
}

func (g *wrongRegistry) Pick(ctx context.Context, service string) (string, error) {
	if before, known := g.picked[service]; known && g.bad.stuck {
		return before, nil
	}
	i, err := recipes.NewServiceLookup(g.view, service, recipes.RoundRobin()).Next(ctx)
	if errors.Is(err, recipes.ErrNoInstance) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	g.picked[service] = i.Service + "/" + i.ID + "=" + string(i.Data)
	return g.picked[service], nil
}
