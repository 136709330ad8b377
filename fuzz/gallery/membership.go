package gallery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedMembership = []Exhibit{
	{
		Slug: "guard-watch-used-up", Alias: "B76",
		Title:  "the guard that heard of other data",
		Source: Report, Link: "https://github.com/apache/curator/issues/778",
		Bug: "The guard of a persistent ephemeral waits for its deletion. When its data changes " +
			"the watch fires for that, and is not set again: when the node is deleted later " +
			"nobody makes it again.",
		Property: linearizability.Presence,
		Wrong: notingOf(func(g *attendant) {
			g.await = func(ctx context.Context, change <-chan zk.Event) error {
				select {
				case ev := <-change:
					if errors.Is(ev.Err, zk.ErrClosing) {
						return ev.Err
					}
					if ev.Type == zk.EventNodeDataChanged {
						<-ctx.Done() // wrong: the watch is used up
					}
				case <-ctx.Done():
				}
				return nil
			}
		}),
		Right: notingOf(nil),
	},
	{
		Slug: "unregister-races-reconnect", Alias: "B78",
		Title:  "registered again while it is taken back",
		Source: Report, Link: "https://github.com/apache/curator/issues/685",
		Bug: "After a reconnect all that is in the list of own services is registered again. To " +
			"take one back its node is deleted, and then it is taken off the list: if the " +
			"connection breaks over the delete, the service is registered between the two, and " +
			"its node is there as long as the session lives.",
		Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) {
			remove := g.afterReconnect()
			g.leave = func() error {
				err := remove()
				g.stopGuard() // wrong: too late
				return err
			}
		}),
		Right: groupOf(func(g *attendant) {
			remove := g.afterReconnect()
			g.leave = func() error {
				g.stopGuard()
				return remove()
			}
		}),
		Script: scenario.Script{Clients: 1, Rounds: 2}, // who is alone is not evicted
	},
	{
		Slug: "old-node-taken-for-own", Alias: "B79",
		Title:  "the node of the session before is taken for the own one",
		Source: Report, Link: "https://github.com/apache/dubbo/issues/5125",
		See: []string{"S4-17", "KAFKA-1387", "CURATOR pull request 50"},
		Bug: "In a new session the node is there already, so all is well. But it is of the session " +
			"before: the server deletes it a moment later, and nobody registers again.",
		Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) {
			known := false
			g.theirs = func(stat *zk.Stat) bool {
				known = g.ofAnotherSession(stat)
				return false // wrong: it will go with its session
			}
			await := g.await
			g.await = func(ctx context.Context, change <-chan zk.Event) error {
				if known {
					<-ctx.Done() // all is well, for ever
				}
				return await(ctx, change)
			}
		}),
	},
	{
		Slug: "error-read-as-empty", Alias: "B82",
		Title:  "what cannot be read is gone",
		Source: Report, Link: "https://github.com/vitessio/vitess/issues/15632",
		Bug: "A view is refreshed just when the connection is lost. The error is taken for an " +
			"empty list, and all members for having left.",
		Property: linearizability.Answers,
		Wrong: groupOf(func(g *attendant) {
			g.view = func(ctx context.Context) ([]string, error) {
				names, _ := g.list(ctx) // wrong: an error says nothing about them
				return names, nil
			}
		}),
	},
	{
		Slug: "registered-once", Alias: "S4-16",
		Title:  "registered once and for all",
		Source: Report, Link: "https://github.com/pinterest/memq/pull/55",
		Bug: "A provider registers when it starts. When its session ends the node goes, and though " +
			"it has a new session soon and works as before, nobody finds it.",
		Property: linearizability.Presence,
		Wrong:    groupOf(func(g *attendant) { g.guarded = false }), // wrong: each session needs a node
	},
}

// attendant is a member of a group: an ephemeral of a fixed name, and a guard that makes
// it again whenever it is gone. It lists the others at each look. An exhibit replaces a
// step of it by a wrong one.
type attendant struct {
	conn *zk.Conn
	name string
	data string
	stop context.CancelFunc // of the guard; nil: not joined
	idle chan struct{}      // closed when it has ended

	guarded bool                                                    // there is one
	theirs  func(stat *zk.Stat) bool                                // whether a node that is there is not this session's
	await   func(ctx context.Context, change <-chan zk.Event) error // until the guard has to look again
	leave   func() error
	view    func(ctx context.Context) ([]string, error)
}

const membersDir = "/members"

// groupOf is a workload of a group with some steps replaced, nil for none.
func groupOf(replace func(*attendant)) scenario.Workload {
	w := object.Membership(func(env object.Env) object.Roster {
		return newAttendant(env.Conn, env.Name, replace)
	}).Named("")
	return beside(w, membersDir)
}

func newAttendant(c *zk.Conn, name string, replace func(*attendant)) *attendant {
	g := &attendant{conn: c, name: name, guarded: true}
	g.theirs, g.await, g.leave, g.view = g.ofAnotherSession, untilEvent, g.stopAndDelete, g.list
	if replace != nil {
		replace(g)
	}
	return g
}

func (g *attendant) path() string { return membersDir + "/" + g.name }

func (g *attendant) Join(ctx context.Context, data string) error {
	g.data = data
	if err := g.appear(); err != nil {
		return err
	}
	if g.stop == nil && g.guarded {
		guard, stop := context.WithCancel(context.WithoutCancel(ctx))
		g.stop, g.idle = stop, make(chan struct{})
		go g.guard(guard, g.idle)
	}
	return nil
}

// appear makes the node, unless it is there.
func (g *attendant) appear() error {
	_, err := g.conn.Create(g.path(), []byte(g.data), zk.FlagEphemeral, acl)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, stat, err := g.conn.Get(g.path())
	if err == nil && g.theirs(stat) {
		err = zk.ErrNodeExists
	}
	return err
}

func (g *attendant) ofAnotherSession(stat *zk.Stat) bool {
	return stat.EphemeralOwner != g.conn.SessionID()
}

// guard makes the node again whenever it is gone.
func (g *attendant) guard(ctx context.Context, idle chan struct{}) {
	defer close(idle)
	for ctx.Err() == nil {
		there, stat, change, err := g.conn.ExistsW(g.path())
		switch {
		case errors.Is(err, zk.ErrClosing), errors.Is(err, zk.ErrConnectionClosed) && ctx.Err() != nil:
			return
		case err == nil && !there:
			err = g.appear()
		case err == nil && !g.theirs(stat):
			err = g.await(ctx, change)
		case err == nil:
			err = zk.ErrNodeExists // it will go with its session
		}
		if errors.Is(err, zk.ErrClosing) {
			return
		}
		if err != nil {
			awaitChange(ctx, after(200*time.Millisecond))
		}
	}
}

// untilEvent waits for any event.
func untilEvent(ctx context.Context, change <-chan zk.Event) error {
	select {
	case ev := <-change:
		if errors.Is(ev.Err, zk.ErrClosing) {
			return ev.Err
		}
	case <-ctx.Done():
	}
	return nil
}

func (g *attendant) Leave(context.Context) error { return g.leave() }

// stopAndDelete ends the guard, and only then deletes the node.
func (g *attendant) stopAndDelete() error {
	g.stopGuard()
	return g.remove()
}

func (g *attendant) stopGuard() {
	if g.stop != nil {
		g.stop()
		<-g.idle
		g.stop = nil
	}
}

func (g *attendant) remove() error {
	err := g.conn.Delete(g.path(), -1)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (g *attendant) View(ctx context.Context) (string, error) {
	names, err := g.view(ctx)
	slices.Sort(names)
	return strings.Join(names, ","), err
}

func (g *attendant) list(context.Context) ([]string, error) {
	names, _, err := g.conn.Children(membersDir)
	return names, err
}

// noting is an attendant whose data can be changed.
type noting struct{ *attendant }

func (n noting) Update(_ context.Context, data string) error {
	_, err := n.conn.Set(n.path(), []byte(data), -1)
	if err == nil {
		n.data = data
	}
	return err
}

// notingOf is groupOf with data that can be changed.
func notingOf(replace func(*attendant)) scenario.Workload {
	w := object.Membership(func(env object.Env) object.Roster {
		return noting{newAttendant(env.Conn, env.Name, replace)}
	}).Named("")
	return beside(w, membersDir)
}

// afterReconnect makes the guard look after a reconnect and in a new session only. It
// returns what deletes the node until it is known to be gone, and tells the guard when
// the connection breaks over that.
func (g *attendant) afterReconnect() (remove func() error) {
	broken := make(chan struct{}, 1)
	g.await = func(ctx context.Context, change <-chan zk.Event) error {
		for {
			select {
			case ev := <-change:
				if ev.Err != nil { // the session has ended, or all
					return ev.Err
				}
				change = nil
			case <-broken:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
	return func() (err error) {
		for range attempts {
			if err = g.remove(); !errors.Is(err, zk.ErrConnectionClosed) {
				return err
			}
			select {
			case broken <- struct{}{}:
			default:
			}
		}
		return err
	}
}
