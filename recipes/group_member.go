package recipes

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// GroupMember is one's own membership of a Group, from Join to Close.
//
// What it promises, and cannot promise, is what a PersistentNode does. In short:
// the member comes back by itself after the end of a session, and does not after
// Close.
//
// Layout: <group>/<name>, ephemeral, with data of the member's own choice.
//
// Sources: as for Group and PersistentNode.
type GroupMember struct {
	node *PersistentNode
	bad  error // of the name
}

// NewGroupMember makes a handle for the membership of a group under a name, which is
// to be the member's alone. It sends nothing; Join does. The options that matter
// are ACL, RecheckEvery, Retry and Containers.
func NewGroupMember(conn Conn, group, name string, data []byte, opts ...Option) *GroupMember {
	return &GroupMember{
		node: newNamed(conn, "member", join(group, name), data, opts),
		bad:  checkName("member", name),
	}
}

// Join joins the group and waits until the server knows it. After an error the
// member joins all the same as soon as it can, until Close; one that wraps
// ErrOccupied says that the name is taken.
func (m *GroupMember) Join(ctx context.Context) error {
	if m.bad != nil {
		return m.node.explain("join", m.bad)
	}
	return m.node.Keep(ctx)
}

// Present reports whether the member is in the group, as far as is known. It
// sends nothing.
func (m *GroupMember) Present() bool { return m.node.Present() }

// Err returns why the latest attempt to be in the group has failed, or nil; see
// PersistentNode.Err.
func (m *GroupMember) Err() error { return m.node.Err() }

// Close leaves the group. When it returns nil the member is not in it, and does
// not come back; when ctx is done before, the leaving goes on.
func (m *GroupMember) Close(ctx context.Context) error { return m.node.Close(ctx) }

// newNamed is NewPersistentNode for a recipe that has a name of its own.
func newNamed(conn Conn, kind, path string, data []byte, opts []Option) *PersistentNode {
	n := NewPersistentNode(conn, path, data, opts...)
	n.kind = kind
	return n
}

// checkName says what is wrong with the name of a node that somebody has chosen.
func checkName(what, name string) error {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return fmt.Errorf("%s %q: expected the name of one node, without a slash: %w", what, name, zk.ErrInvalidPath)
	}
	return nil
}
