package recipes

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// GroupMember is the membership of this process in a Group, from Join to Close.
//
// It has the guarantees and the limits of a PersistentNode. In short: the member comes back by
// itself after the end of a session, and does not after Close.
//
// Layout: <group>/<name>, ephemeral, with data of the member's choice.
//
// Sources: as for Group and PersistentNode.
type GroupMember struct{ named }

// NewGroupMember makes a handle for the membership of a group under a name, which is to be the
// member's alone. It sends nothing; Join does. The options that matter are ACL, RecheckEvery, Retry
// and Containers.
func NewGroupMember(conn Conn, group, name string, data []byte, opts ...Option) *GroupMember {
	return &GroupMember{
		newNamed(conn, "member", join(group, name), data, opts, checkName("member", name)),
	}
}

// Join joins the group and waits until the server knows it, also while another session has the
// name: if ctx is done meanwhile, the error wraps ErrOccupied. After an error the member joins all
// the same as soon as it can, until Close.
func (m *GroupMember) Join(ctx context.Context) error { return m.keep(ctx, "join") }

// named is the node of a recipe under a name that the user chooses.
type named struct {
	node *PersistentNode
	bad  error // the error of a bad name
}

func newNamed(conn Conn, kind, path string, data []byte, opts []Option, bad error) named {
	n := NewPersistentNode(conn, path, data, opts...)
	n.kind = kind
	return named{n, bad}
}

// keep is Keep of the node, unless its name is bad.
func (n named) keep(ctx context.Context, what string) error {
	if n.bad != nil {
		return n.node.explain(what, n.bad)
	}
	return n.node.Keep(ctx)
}

// Present reports whether the node is there, as far as the client knows. It sends nothing.
func (n named) Present() bool { return n.node.Present() }

// Err returns the error of the latest attempt to keep the node with its newest data, or nil; see
// PersistentNode.Err.
func (n named) Err() error { return n.node.Err() }

// Close removes the node. When it returns nil the node is not there and does not come back. When
// ctx is done before that, the removal goes on.
func (n named) Close(ctx context.Context) error { return n.node.Close(ctx) }

// checkName returns an error for a name that is not the name of one node.
func checkName(what, name string) error {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return fmt.Errorf(
			"%s %q: expected the name of one node, without a slash: %w", what, name,
			zk.ErrInvalidPath,
		)
	}
	return nil
}
