package builtin

import (
	"context"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// Member registers an instance by recipes.GroupMember, which keeps an ephemeral znode Path/Name of
// Env. It is for the test of code that only watches, an [object.Discovery].
func Member(env object.Env) object.Registrar {
	return &group{conn: env.Conn, path: env.Path, name: env.Name}
}

// group is the group of package recipes.
type group struct {
	conn   *zk.Conn
	path   string
	name   string
	view   *recipes.Group
	member *recipes.GroupMember // nil: not joined
}

// watchedGroup is the recommended group.
func watchedGroup() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		view := recipes.NewGroup(env.Conn, env.Path, recipes.RecheckEvery(Recheck))
		return &group{conn: env.Conn, path: env.Path, name: env.Name, view: view}
	}, object.MembershipClaims{
		Recheck: Recheck,
		About:   "group and members of package recipes",
	}).Named("recipes.Group")
}

func (g *group) Join(ctx context.Context, data string) error {
	if g.member == nil {
		g.member = recipes.NewGroupMember(g.conn, g.path, g.name, []byte(data))
	}
	return g.member.Join(ctx)
}

func (g *group) Leave(ctx context.Context) error {
	if g.member == nil {
		return nil
	}
	err := g.member.Close(ctx)
	if err == nil {
		g.member = nil
	}
	return err
}

func (g *group) Close(ctx context.Context) error { return g.view.Close(ctx) }

func (g *group) View(ctx context.Context) (string, error) {
	names, err := g.view.Names(ctx)
	return strings.Join(names, ","), err
}
