package museum

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// gathering is the double barrier of the ZooKeeper guide: a node for each member, and
// "ready", which is made by who sees enough of them. It is good for one round: nobody
// deletes "ready". An exhibit replaces a step of it by a wrong one.
type gathering struct {
	conn *zk.Conn
	size int
	own  string // path of the own node

	join   func() error
	member func(name string) bool                                 // whether a child counts
	look   func() (in bool, change <-chan zk.Event, err error)    // whether all are there
	await  func(ctx context.Context, change <-chan zk.Event) bool // whether that is enough to enter
	giveUp func() error
}

// The nodes of a double barrier, as its workload has them.
const (
	gatheringDir = "/double"
	readyPath    = gatheringDir + "/ready"
)

// gatheringOf is a workload of a double barrier with some steps replaced, nil for none.
func gatheringOf(replace func(*gathering)) scenario.Workload {
	claims := object.BarrierClaims{LeavesAtRest: []string{readyPath}}
	return beside(object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return newGathering(env.Conn, env.Size, replace)
	}, claims).Named(""), gatheringDir)
}

func newGathering(c *zk.Conn, size int, replace func(*gathering)) *gathering {
	g := &gathering{conn: c, size: size}
	g.join, g.member, g.look, g.await, g.giveUp = g.joinOnce, isMember, g.lookForReady, again, g.remove
	if replace != nil {
		replace(g)
	}
	return g
}

// doubleBarrier is the double barrier of package recipes, which is right.
func doubleBarrier() scenario.Workload { return builtIn("double-barrier", "recipes.DoubleBarrier") }

func (g *gathering) Enter(ctx context.Context) error {
	if err := g.join(); err != nil {
		return err
	}
	for looked := false; !looked || ctx.Err() == nil; looked = true {
		in, change, err := g.look()
		switch {
		case errors.Is(err, errGone): // with the session
			if err := g.join(); err != nil {
				return err
			}
		case err != nil: // the next request waits for the connection
		case in || g.await(ctx, change):
			return nil
		}
	}
	return errors.Join(ctx.Err(), g.giveUp())
}

// Leave deletes the own node and waits until there are no others.
func (g *gathering) Leave(ctx context.Context) error {
	if err := g.remove(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		members, change, err := g.members()
		switch {
		case err != nil:
		case len(members) == 0:
			return nil
		default:
			again(ctx, change)
		}
	}
	return ctx.Err()
}

func (g *gathering) joinOnce() (err error) {
	g.own, err = memberNode(g.conn, gatheringDir)
	return err
}

// memberNode makes an ephemeral for a member, and only one, whatever is lost, and
// returns its path.
func memberNode(conn *zk.Conn, dir string) (string, error) {
	l := newNaked(conn, dir)
	l.naming = func() string { return strings.TrimSuffix(l.guid(), marker) + "m-" }
	err := l.join()
	return l.path(l.own), err
}

func isMember(name string) bool { return strings.Contains(name, "m-") }

// lookForReady looks for "ready", and makes it if enough are there.
func (g *gathering) lookForReady() (bool, <-chan zk.Event, error) {
	ready, _, change, err := g.conn.ExistsW(readyPath)
	if ready || err != nil {
		return ready, nil, err
	}
	if all, _, err := g.lookAtMembers(); !all || err != nil {
		return false, change, err
	}
	_, err = g.conn.Create(readyPath, nil, 0, acl)
	if errors.Is(err, zk.ErrNodeExists) {
		err = nil
	}
	return err == nil, nil, err
}

// lookAtMembers counts the members.
func (g *gathering) lookAtMembers() (bool, <-chan zk.Event, error) {
	members, change, err := g.members()
	if err == nil && !slices.Contains(members, path.Base(g.own)) {
		err = errGone
	}
	return len(members) >= g.size, change, err
}

// members lists them, and watches them.
func (g *gathering) members() ([]string, <-chan zk.Event, error) {
	names, _, change, err := g.conn.ChildrenW(gatheringDir)
	return slices.DeleteFunc(names, func(name string) bool { return !g.member(name) }), change, err
}

// again waits until something has changed, which calls for another look.
func again(ctx context.Context, change <-chan zk.Event) bool {
	select {
	case <-change:
	case <-ctx.Done():
	}
	return false
}

func (g *gathering) remove() (err error) {
	for range attempts {
		if err = g.conn.Delete(g.own, -1); err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
	}
	return err
}
