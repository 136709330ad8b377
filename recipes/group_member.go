package recipes

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// GroupMember is the membership of this process in a Group, from Join to Close.
//
// It has the guarantees and the limits of a PersistentNode. In short: the member joins again after
// the end of a session, but not after Close.
//
// Layout: <group>/<name>, ephemeral, with data of the member's choice.
//
// Sources: as for Group and PersistentNode.
type GroupMember struct{ named }

// NewGroupMember makes a handle for the membership of a group under a name. No other member may
// have that name. It sends nothing; Join does. The options that matter are ACL, RecheckEvery, Retry
// and Containers.
func NewGroupMember(conn Conn, group, name string, data []byte, opts ...Option) *GroupMember {
	return &GroupMember{
		newNamed(conn, "member", request.Join(group, name), data, opts, checkName("member", name)),
	}
}

// Join joins the group and waits for the confirmation by the server. It also waits while another
// session has the name; if ctx is done meanwhile, the error wraps ErrOccupied. After an error the
// member still joins as soon as it can, until Close.
func (m *GroupMember) Join(ctx context.Context) error { return m.keep(ctx, "join") }

// named is a PersistentNode with a name from the user.
type named struct {
	node *PersistentNode
	bad  error // the error of a bad name
}

func newNamed(conn Conn, kind, path string, data []byte, opts []Option, bad error) named {
	n := NewPersistentNode(conn, path, data, opts...)
	n.tasks.Kind = kind
	return named{n, bad}
}

// keep is Keep of the node. It returns an error if the name is bad.
func (n named) keep(ctx context.Context, what string) error {
	if n.bad != nil {
		return n.node.tasks.Explain(what, n.bad)
	}
	return n.node.Keep(ctx)
}

// Present reports whether the node exists, as far as the client knows. It sends nothing.
func (n named) Present() bool { return n.node.Present() }

// Err returns the error of the latest attempt to keep the node with its newest data, or nil; see
// PersistentNode.Err.
func (n named) Err() error { return n.node.Err() }

// Close removes the node. When it returns nil the node is gone and does not come back. If ctx is
// done first, the removal goes on.
func (n named) Close(ctx context.Context) error { return n.node.Close(ctx) }

// checkName returns an error for a name that cannot be the name of a single node.
func checkName(what, name string) error {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return fmt.Errorf(
			"%s %q: expected the name of one node, without a slash: %w", what, name,
			zk.ErrInvalidPath,
		)
	}
	return nil
}
