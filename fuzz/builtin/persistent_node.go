package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// persistentNode is a node of package recipes that several clients want, and a view of it.
type persistentNode struct {
	conn *zk.Conn
	path string
	view *recipes.Group
	node *recipes.PersistentNode // nil: not wanted
}

// contestedNode is the recommended persistent node, wanted by several clients. One of them has it
// at a time.
func contestedNode() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		view := recipes.NewGroup(env.Conn, env.Path, recipes.RecheckEvery(Recheck))
		return &persistentNode{conn: env.Conn, path: env.Path + "/" + env.Name, view: view}
	}, object.MembershipClaims{
		Recheck: Recheck, Rivals: true,
		About: "one node that all clients want to keep, " +
			"with the persistent node of package recipes",
	}).Named("recipes.PersistentNode")
}

func (n *persistentNode) Join(ctx context.Context, data string) error {
	if n.node == nil {
		n.node = recipes.NewPersistentNode(n.conn, n.path, []byte(data),
			recipes.RecheckEvery(Recheck))
	}
	return n.node.Keep(ctx)
}

func (n *persistentNode) Update(ctx context.Context, data string) error {
	return n.node.Set(ctx, []byte(data))
}

func (n *persistentNode) Leave(ctx context.Context) error {
	if n.node == nil {
		return nil
	}
	err := n.node.Close(ctx)
	if err == nil {
		n.node = nil
	}
	return err
}

func (n *persistentNode) Close(ctx context.Context) error { return n.view.Close(ctx) }

func (n *persistentNode) View(ctx context.Context) (string, error) {
	members, err := n.view.Members(ctx)
	entries := make([]string, len(members))
	for i, m := range members {
		entries[i] = fmt.Sprintf("%s=%s", m.Name, m.Data)
	}
	return strings.Join(entries, ","), err
}
