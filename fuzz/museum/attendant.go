package museum

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
	view    func() ([]string, error)
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

func (g *attendant) View(context.Context) (string, error) {
	names, err := g.view()
	slices.Sort(names)
	return strings.Join(names, ","), err
}

func (g *attendant) list() ([]string, error) {
	names, _, err := g.conn.Children(membersDir)
	return names, err
}
