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
)

var publishedMembership = []Exhibit{
	{Slug: "guard-watch-used-up", Alias: "B76", Title: "the guard that heard of other data",
		Source: Report, Link: "https://github.com/apache/curator/issues/778",
		Bug: "The guard of a persistent ephemeral waits for its deletion. When its data changes " +
			"the watch fires for that, and is not set again: when the node is deleted later it " +
			"is not made again.",
		Property: presence, Wrong: updatingOf(func(m *member) {
			m.await = func(ctx context.Context, change <-chan zk.Event) error {
				event, err := await(ctx, change)
				if err == nil && event.Type == zk.EventNodeDataChanged {
					<-ctx.Done() // wrong: the watch is used up
				}
				return closing(event)
			}
		}), Right: updatingOf()},
	{Slug: "unregister-races-reconnect", Alias: "B78",
		Title:  "registered again while it is taken back",
		Source: Report, Link: "https://github.com/apache/curator/issues/685",
		Bug: "After a reconnect all services of a list are registered again. To take one back " +
			"its node is deleted, and then it is taken off the list. If the connection breaks " +
			"over the delete, the service is registered between the two, and its node is there " +
			"as long as the session lives.",
		Property: presence, Wrong: memberOf(func(m *member) {
			remove := m.afterReconnect()
			m.leave = func() error {
				err := remove()
				m.stopGuard() // wrong: too late
				return err
			}
		}), Right: memberOf(func(m *member) {
			remove := m.afterReconnect()
			m.leave = func() error {
				m.stopGuard()
				return remove()
			}
		}), Script: scenario.Script{Clients: 1, Rounds: 2}}, // a single client is not evicted
	{Slug: "old-node-taken-for-own", Alias: "B79",
		Title:  "the node of the session before is taken for the own one",
		Source: Report, Link: "https://github.com/apache/dubbo/issues/5125",
		See: []string{"S4-17", "KAFKA-1387", "CURATOR pull request 50"},
		Bug: "In a new session the node is there already, so all is well. But it is of the " +
			"session before: the server deletes it a moment later, and it is not registered " +
			"again.",
		Property: presence, Wrong: memberOf(func(m *member) {
			known := false
			m.theirs = func(stat *zk.Stat) bool {
				known = m.ofAnotherSession(stat)
				return false // wrong: it will go with its session
			}
			m.await = func(ctx context.Context, change <-chan zk.Event) error {
				if known {
					<-ctx.Done() // all is well, for ever
				}
				return untilEvent(ctx, change)
			}
		})},
	{Slug: "error-read-as-empty", Alias: "B82", Title: "an unreadable member is gone",
		Source: Report, Link: "https://github.com/vitessio/vitess/issues/15632",
		Bug: "A view is refreshed just when the connection is lost. The error is taken for an " +
			"empty list, and all members for having left.",
		Property: answers, Wrong: memberOf(func(m *member) {
			m.view = func(context.Context) ([]string, error) {
				names, _ := m.list() // wrong: an error says nothing about them
				return names, nil
			}
		})},
	{Slug: "registered-once", Alias: "S4-16", Title: "registered once and for all",
		Source: Report, Link: "https://github.com/pinterest/memq/pull/55",
		Bug: "A provider registers when it starts. When its session ends the node goes. It has a " +
			"new session soon and works as before, but no client finds it.",
		Property: presence,
		Wrong:    memberOf(func(m *member) { m.guarded = false })}, // wrong: each session needs a node
}

var plantedMembership = []Exhibit{
	{Title: "comes back after it has left", Property: presence, Wrong: memberOf(func(m *member) {
		m.leave = m.remove
	})},
	{Title: "does not leave", Property: presence,
		Wrong: memberOf(func(m *member) { m.leave = nothing })},
	{Title: "looks only once", Property: answers, Wrong: memberOf(func(m *member) {
		var seen []string
		m.view = func(context.Context) (_ []string, err error) {
			if seen == nil {
				seen, err = m.list()
			}
			return slices.Clone(seen), err
		}
	})},
	{Title: "deletes all others", Property: safety, Wrong: memberOf(func(m *member) {
		m.view = func(context.Context) ([]string, error) {
			names, err := m.list()
			for _, name := range names {
				if name != m.name {
					err = errors.Join(err, ignore(m.conn.Delete(membersDir+"/"+name, -1), zk.ErrNoNode))
				}
			}
			return names, err
		}
	})},
	{Title: "never answers", Property: liveness, Wrong: memberOf(func(m *member) {
		m.view = func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})},
}

// member is a member of a group in steps: an ephemeral of a fixed name, and a guard that makes it
// again when it is gone. It lists the others at each look. An exhibit replaces a step by a wrong
// one.
type member struct {
	conn *zk.Conn
	name string
	data string
	background

	guarded bool                                                    // it has a guard
	theirs  func(stat *zk.Stat) bool                                // the node is another session's
	await   func(ctx context.Context, change <-chan zk.Event) error // until the guard looks again
	leave   func() error
	view    func(ctx context.Context) ([]string, error)
}

// background is a goroutine that can be started and stopped.
type background struct {
	stop context.CancelFunc // nil: it does not run
	idle chan struct{}      // closed when it has ended
}

func (b *background) startGuard(ctx context.Context, run func(context.Context)) {
	if b.stop != nil {
		return
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	idle := make(chan struct{})
	b.idle = idle
	go func() {
		defer close(idle)
		run(ctx)
	}()
}

func (b *background) stopGuard() {
	if b.stop != nil {
		b.stop()
		<-b.idle
		b.stop = nil
	}
}

const membersDir = "/members"

// memberOf is a workload of a group with some steps replaced.
func memberOf(steps ...func(*member)) scenario.Workload {
	return openMember(func(m *member) object.Roster { return m }, steps)
}

// openMember is a workload of any member that is made of a plain one.
func openMember(open func(*member) object.Roster, steps []func(*member)) scenario.Workload {
	return beside(object.Membership(func(env object.Env) object.Roster {
		m := &member{conn: env.Conn, name: env.Name, guarded: true}
		m.theirs, m.await, m.leave = m.ofAnotherSession, untilEvent, m.stopAndDelete
		m.view = func(context.Context) ([]string, error) { return m.list() }
		return open(with(m, steps))
	}), membersDir)
}

func (m *member) path() string { return membersDir + "/" + m.name }

func (m *member) Join(ctx context.Context, data string) error {
	m.data = data
	if err := m.appear(); err != nil {
		return err
	}
	if m.guarded {
		m.startGuard(ctx, m.guard)
	}
	return nil
}

// appear makes the node, unless it is there.
func (m *member) appear() error {
	_, err := m.conn.Create(m.path(), []byte(m.data), zk.FlagEphemeral, acl)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, stat, err := m.conn.Get(m.path())
	if err == nil && m.theirs(stat) {
		err = zk.ErrNodeExists
	}
	return err
}

func (m *member) ofAnotherSession(stat *zk.Stat) bool {
	return stat.EphemeralOwner != m.conn.SessionID()
}

// guard makes the node again when it is gone.
func (m *member) guard(ctx context.Context) {
	for ctx.Err() == nil {
		there, stat, change, err := m.conn.ExistsW(m.path())
		switch {
		case errors.Is(err, zk.ErrConnectionClosed) && ctx.Err() != nil:
			return
		case err != nil:
		case !there:
			err = m.appear()
		case !m.theirs(stat):
			err = m.await(ctx, change)
		default:
			err = zk.ErrNodeExists // it will go with its session
		}
		if errors.Is(err, zk.ErrClosing) {
			return
		}
		if err != nil {
			await(ctx, after(200*time.Millisecond))
		}
	}
}

// untilEvent waits for any event.
func untilEvent(ctx context.Context, change <-chan zk.Event) error {
	event, _ := await(ctx, change)
	return closing(event)
}

// closing is the error of an event that tells of the end of the connection.
func closing(event zk.Event) error {
	if errors.Is(event.Err, zk.ErrClosing) {
		return event.Err
	}
	return nil
}

func (m *member) Leave(context.Context) error { return m.leave() }

// stopAndDelete ends the guard, and only then deletes the node.
func (m *member) stopAndDelete() error {
	m.stopGuard()
	return m.remove()
}

func (m *member) remove() error { return ignore(m.conn.Delete(m.path(), -1), zk.ErrNoNode) }

func (m *member) View(ctx context.Context) (string, error) {
	names, err := m.view(ctx)
	slices.Sort(names)
	return strings.Join(names, ","), err
}

func (m *member) list() ([]string, error) {
	names, _, err := m.conn.Children(membersDir)
	return names, err
}

// updating is a member with data that can be changed.
type updating struct{ *member }

func (u updating) Update(_ context.Context, data string) error {
	_, err := u.conn.Set(u.path(), []byte(data), -1)
	if err == nil {
		u.data = data
	}
	return err
}

// updatingOf is memberOf with data that can be changed.
func updatingOf(steps ...func(*member)) scenario.Workload {
	return openMember(func(m *member) object.Roster { return updating{m} }, steps)
}

// afterReconnect makes the guard look after a reconnect and in a new session only. It returns a
// function that deletes the node until it is known to be gone, and tells the guard when the
// connection breaks over that.
func (m *member) afterReconnect() (remove func() error) {
	broken := make(chan struct{}, 1)
	m.await = func(ctx context.Context, change <-chan zk.Event) error {
		for {
			select {
			case ev := <-change:
				if ev.Err != nil { // the session has ended, or the connection
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
			if err = m.remove(); !errors.Is(err, zk.ErrConnectionClosed) {
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
