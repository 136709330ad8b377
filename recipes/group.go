package recipes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Group is a view of who is there: the names of the members that have joined the
// group and whose sessions live. Members join with a GroupMember of their own.
//
// What it promises:
//   - Members shows the group as it was at one moment, all members of the same
//     moment, and never of an earlier one than the last time.
//   - Every change shows soon, if it lasts: after the way of a notification and a
//     reply, and after a disconnection as soon as the client is connected, or at
//     the next recheck: two losses of the connection in a row can hide a change
//     from the client (see NodeCache). What comes and goes between two looks of
//     the server may not show.
//   - A failed look is never taken for an empty group.
//
// On disconnect and on expiry the last view stays, and Stale says so. A done
// context ends only the waiting for the first view.
//
// What it cannot promise: that a member it shows is still there, or still reached
// by others. A member that dies shows until its session has expired.
//
// Layout: <path>/<member>, ephemeral; a group that nobody has joined yet has
// no node. The option that matters is RecheckEvery.
//
// Sources: ZooKeeper Recipes and Solutions, "Group Membership"; Curator's
// GroupMember; kazoo's ShallowParty.
type Group struct {
	*follower[[]string]
}

// NewGroup makes a view of the group at path. It sends nothing; the first look
// begins to follow the group.
func NewGroup(conn Conn, path string, opts ...Option) *Group {
	g := &Group{}
	g.follower = newFollower(newLifecycle(conn, "group", path, opts), g.read, slices.Equal)
	return g
}

// Members returns the names of the members, sorted. It waits for the first view;
// later calls return at once and send nothing.
func (g *Group) Members(ctx context.Context) ([]string, error) {
	names, err := g.look(ctx, "look at")
	return slices.Clone(names), err
}

// read lists the group.
func (g *Group) read(ctx context.Context, r *requests, _ due) ([]string, error) {
	return g.loop.listing(ctx, r, g.path)
}

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
