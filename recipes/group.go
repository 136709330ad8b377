package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Group is a view of a group: the members with live sessions that have joined it, and their data.
// Each member joins with its own GroupMember.
//
// It guarantees:
//
//   - Names returns all members of one moment, which is never earlier than that of the last call.
//     Members returns each member as of one moment, also never earlier than last time, but
//     different members may be as of different moments.
//   - The view shows a lasting change after a notification and one or two replies. After a
//     disconnection it shows the change when the client is connected again, or at the next recheck:
//     two losses of the connection in a row can hide a change from the client (see NodeCache). A
//     member that comes and goes between two reads may not be shown.
//   - A failed read is never taken for an empty group. A member with unreadable data is listed by
//     Names, and by Members with its last data if there is any. Err returns the reason, the data is
//     read again soon, and the other members are followed meanwhile.
//
// When the connection is lost or the session ends, the last view stays, and Stale returns true.
// When the Conn is closed the view ends. A done context ends only the waiting for the first view.
//
// It cannot guarantee that a member in the view still exists or can be reached. A dead member stays
// in the view until its session has expired and the client's server has learned of that.
//
// Layout: <path>/<member>, ephemeral; a group that has never had a member has no node. The option
// that matters is RecheckEvery.
//
// Sources: ZooKeeper Recipes and Solutions, "Group Membership"; Curator's GroupMember; kazoo's
// ShallowParty and Party.
type Group struct {
	*follower[groupView]
	names []string              // used by the loop only
	known map[string]Membership // used by the loop only: the members that were read
}

// Membership is one member of a group as it was read.
type Membership struct {
	Name string
	Data []byte
	// Session is the session of the member's client.
	Session int64
	// Czxid is the zxid of the member's creation. Each later member has a greater one, even a
	// member that comes back under its old name.
	Czxid int64
}

// groupView is the present view of a group.
type groupView struct {
	names   []string // as they were listed
	members []Membership
}

// sameView reports whether two views are equal.
func sameView(a, b groupView) bool {
	return slices.Equal(a.names, b.names) &&
		slices.EqualFunc(a.members, b.members, func(m, n Membership) bool {
			return m.Name == n.Name && m.Czxid == n.Czxid && bytes.Equal(m.Data, n.Data)
		})
}

// NewGroup makes a view of the group at path. It sends nothing; the first look begins to follow the
// group.
func NewGroup(conn Conn, path string, opts ...Option) *Group {
	g := &Group{known: map[string]Membership{}}
	g.follower = newFollower(newTasks(conn, "group", path, opts), g.read, sameView)
	return g
}

// Names returns the sorted names of the members, all as of one moment. It waits for the first view;
// later calls return at once and send nothing.
func (g *Group) Names(ctx context.Context) ([]string, error) {
	c, err := g.look(ctx, "look at")
	return slices.Clone(c.names), err
}

// Members returns the members, sorted by name. It waits as Names does.
func (g *Group) Members(ctx context.Context) ([]Membership, error) {
	c, err := g.look(ctx, "look at")
	members := slices.Clone(c.members)
	for n := range members {
		members[n].Data = bytes.Clone(members[n].Data)
	}
	return members, err
}

// read is one step of the loop. It lists the group and reads the members, as far as they are due.
// If a member has gone it lists again, so that names and members agree.
func (g *Group) read(r *request.Sender, d task.Due) (groupView, error) {
	for list := d.Has(g.tasks.Path); ; list = true {
		if list {
			names, err := g.loop.Listing(r, g.tasks.Path)
			if err != nil {
				return groupView{}, err
			}
			g.names = names
		}
		c, err := g.readMembers(r, d)
		if !errors.Is(err, zk.ErrNoNode) {
			return c, err
		}
	}
}

// readMembers reads the listed members that are due. zk.ErrNoNode means that a member has gone.
func (g *Group) readMembers(r *request.Sender, d task.Due) (groupView, error) {
	c := groupView{names: g.names}
	for _, name := range g.names {
		if err := g.readMember(r, d, name); err != nil {
			return groupView{}, err
		}
		if m, ok := g.known[name]; ok {
			c.members = append(c.members, m)
		}
	}
	g.forget(c.members)
	return c, nil
}

// readMember reads one member if it is due.
func (g *Group) readMember(r *request.Sender, d task.Due, name string) error {
	path := request.Join(g.tasks.Path, name)
	if _, known := g.known[name]; known && !d.Has(path) {
		return nil
	}
	data, stat, err := g.loop.DataOf(r, path)
	if errors.Is(err, zk.ErrNoNode) {
		delete(g.known, name)
	}
	if err != nil {
		return g.loop.Tolerate(r.Ctx, path, err)
	}
	g.known[name] = Membership{name, data, stat.EphemeralOwner, stat.Czxid}
	return nil
}

// forget drops the members that the view no longer shows.
func (g *Group) forget(shown []Membership) {
	clear(g.known)
	for _, m := range shown {
		g.known[m.Name] = m
	}
}

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
