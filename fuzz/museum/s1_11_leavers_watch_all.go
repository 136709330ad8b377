package museum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func leaversWatchAll() Exhibit {
	return Exhibit{
		ID: "S1-11", Title: "everybody watches everybody leave",
		Report: barrierGuide,
		Bug: "Who leaves deletes its node and watches the directory until it is empty. Each one that leaves wakes all who have " +
			"left before it, who list and watch again: as many requests as the square of the members.",
		Property: scenario.InvariantProperty,
		Wrong:    leaving(func(g *gathering) object.DoubleBarrierer { return g }), // wrong: one of them is enough
		Right:    leaving(func(g *gathering) object.DoubleBarrierer { return orderly{g} }),
		Script:   scenario.Script{Clients: 4, Rounds: 1},
	}
}

// leaving is a workload of a double barrier of whose members those who leave are looked
// at.
func leaving(leaves func(*gathering) object.DoubleBarrierer) scenario.Workload {
	w := object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		g := newGathering(env.Conn, env.Size, nil)
		g.look = g.lookQuietly
		return leaves(g)
	}).Named("")
	return judgedBy(beside(w, gatheringDir), "who leaves wakes one, but for the last", leaverWakesSeveral)
}

// lookQuietly is lookForReady without a watch of the directory.
func (g *gathering) lookQuietly() (bool, <-chan zk.Event, error) {
	ready, _, change, err := g.conn.ExistsW(readyPath)
	if ready || err != nil {
		return ready, nil, err
	}
	names, err := g.inOrder()
	if err == nil && !slices.Contains(names, path.Base(g.own)) {
		err = errGone
	}
	if err != nil || len(names) < g.size {
		return false, change, err
	}
	if _, err = g.conn.Create(readyPath, nil, 0, acl); errors.Is(err, zk.ErrNodeExists) {
		err = nil
	}
	return err == nil, nil, err
}

// inOrder lists the members in the order in which they came.
func (g *gathering) inOrder() ([]string, error) {
	names, _, err := g.conn.Children(gatheringDir)
	names = slices.DeleteFunc(names, func(name string) bool { return !g.member(name) })
	number := func(name string) string { return name[strings.LastIndex(name, "-"):] }
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, err
}

// orderly is a member that leaves as the guide says: the first waits for the last, and
// the others, when they have deleted their nodes, for the first.
type orderly struct{ *gathering }

func (g orderly) Leave(ctx context.Context) error {
	for ctx.Err() == nil {
		names, err := g.inOrder()
		if err != nil {
			continue // the next request waits for the connection
		}
		if len(names) == 0 || len(names) == 1 && names[0] == path.Base(g.own) {
			return g.remove()
		}
		other := names[0]
		if other == path.Base(g.own) {
			other = names[len(names)-1]
		} else if err := g.remove(); err != nil {
			return err
		}
		if there, _, gone, err := g.conn.ExistsW(gatheringDir + "/" + other); err == nil && there {
			again(ctx, gone)
		}
	}
	return errors.Join(ctx.Err(), g.remove())
}

// leaverWakesSeveral looks at runs in which nobody has given up: the watch of who has
// cannot be taken back.
func leaverWakesSeveral(e scenario.Evidence) error {
	inside := 0
	for _, ev := range e.History.Server {
		switch {
		case !strings.HasPrefix(ev.Path, gatheringDir+"/") || !isMember(ev.Path):
		case ev.Kind == linearizability.NodeCreated:
			inside++
		case ev.Kind == linearizability.NodeDeleted:
			if inside--; inside > 0 && ev.Notified > 1 && !e.GaveUp() {
				return fmt.Errorf("%s wakes %d at step %d, and %d are inside", ev.Path, ev.Notified, ev.Step, inside)
			}
		}
	}
	return nil
}
