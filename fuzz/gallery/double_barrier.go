package gallery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedDoubleBarrier = []Exhibit{
	{
		Slug: "any-wakeup-opens", Alias: "B53",
		Title:  "any wake-up opens the barrier",
		Source: Report, Link: "https://github.com/apache/curator/issues/1290",
		Bug: "A member waits with a timeout, and goes in if it was woken before that is over. But " +
			"its watch fires when somebody else comes, too, or when the session ends, and then " +
			"nobody has said that all are there.",
		Property: linearizability.Safety,
		Wrong: gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers
			g.await = func(ctx context.Context, change <-chan zk.Event) bool {
				select {
				case <-change:
					return true // wrong: it may tell of anything
				case <-ctx.Done():
					return false
				}
			}
		}),
		Script: oneRound,
	},
	{
		Slug: "gave-up-still-counted", Alias: "B55",
		Title:  "who gives up stays in the count",
		Source: Report, Link: "https://github.com/apache/curator/issues/838",
		Bug: "Who waits in vain for the others returns and leaves its node. It is counted as long " +
			"as its session lives: when it comes again, it is two.",
		Property: linearizability.Safety,
		Wrong: gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers
			g.giveUp = func() error { return nil } // wrong: the node counts
		}),
		Script: scenario.Script{Clients: 3, Rounds: 2},
	},
	{
		Slug: "ready-counted-as-member", Alias: "B57",
		Title:  "\"ready\" is counted as a member",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#double-barriers",
		See: []string{"Netflix/curator issue 99"},
		Bug: "Members are counted by the children of the directory, of which \"ready\" is one. When " +
			"all have left there is one too many, for whom everybody waits.",
		Property: linearizability.Liveness,
		Wrong: gatheringOf(func(g *gathering) {
			g.member = func(string) bool { return true } // wrong: "ready" is none
		}),
		Script: oneRound,
	},
	{
		Slug: "left-before-counted", Alias: "B58",
		Title:  "all were there, but not for long enough",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		See: []string{"the barrier of ZooKeeper's own tutorial"},
		Bug: "Each member counts for itself until all are there. A fast one enters and leaves " +
			"before a slow one has counted: that one never sees all of them, and waits for ever.",
		Property: linearizability.Liveness,
		Wrong: notLeftBehind(gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers // wrong: nothing is left that says that all were there
		})),
		Right:  notLeftBehind(doubleBarrier()),
		Script: oneRound,
	},
	{
		Slug: "stays-ready", Alias: "S1-9",
		Title:  "the barrier stays open",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#double-barriers",
		Bug: "As drawn, nobody deletes \"ready\" when all have left. Who comes to the next round " +
			"finds it, and does not wait for anybody.",
		Property: linearizability.Safety,
		Wrong:    gatheringOf(nil),
		Script:   scenario.Script{Clients: 3, Rounds: 2},
	},
	{
		Slug: "all-watch-leaving", Alias: "S1-11",
		Title:  "everybody watches everybody leave",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "Who leaves deletes its node and watches the directory until it is empty. Each one " +
			"that leaves wakes all who have left before it, who list and watch again: as many " +
			"requests as the square of the members.",
		Property: scenario.InvariantProperty,
		// wrong: one of them is enough
		Wrong:  leaving(func(g *gathering) object.DoubleBarrierer { return g }),
		Right:  leaving(func(g *gathering) object.DoubleBarrierer { return orderly{g} }),
		Script: scenario.Script{Clients: 4, Rounds: 1},
	},
	{
		Slug: "two-members-one-name", Alias: "S1-12",
		Title:  "two members of one name",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "A member's node is named after its process, and a node that is there is taken for " +
			"the own one of before. In containers all processes are number 1: they share one " +
			"node, and are never enough.",
		Property: linearizability.Liveness,
		Wrong: gatheringOf(func(g *gathering) {
			g.join = func() error {
				g.own = gatheringDir + "/m-1"
				_, err := g.conn.Create(g.own, nil, zk.FlagEphemeral, acl)
				if errors.Is(err, zk.ErrNodeExists) {
					return nil // wrong: it may be another's
				}
				return err
			}
		}),
		Script: oneRound,
	},
	{
		Slug: "failed-count-not-repeated", Alias: "S4-34",
		Title:  "a count that failed is not made up for",
		Source: Report, Link: "https://github.com/apache/curator/issues/848",
		Bug: "A listener counts the members at each event. If the connection is lost over the " +
			"count the error is logged, and that was it: nobody has watched, so no other event " +
			"comes.",
		Property: linearizability.Liveness,
		Wrong: allEnter(func(g *gathering) {
			look := g.look
			g.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				if errors.Is(err, zk.ErrConnectionClosed) {
					return false, nil, nil // wrong: there is nothing to wait for
				}
				return in, change, err
			}
		}),
		Right:  allEnter(nil),
		Script: oneRound,
	},
	{
		Slug: "own-place-lost-unnoticed", Alias: "S4-36",
		Title:  "a member that does not know that it has gone",
		Source: Text, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/barrier.py#L87-L93",
		Bug: "A member makes its node and then counts. When its session ends the node goes, and " +
			"nobody makes it again: the member waits with the others for one more, and it is that " +
			"one.",
		Property: linearizability.Liveness,
		Wrong: allEnter(func(g *gathering) {
			look := g.look
			g.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				if errors.Is(err, errGone) {
					err = nil // wrong: it has to come again
				}
				return in, change, err
			}
		}),
		Right:  allEnter(nil),
		Script: oneRound,
	},
}

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

	awaitOthers func(ctx context.Context) // until all have left
	clear       func()                    // when they have
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
	g.awaitOthers, g.clear = g.awaitNoOthers, func() {}
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
	g.awaitOthers(ctx)
	g.clear()
	return ctx.Err()
}

func (g *gathering) awaitNoOthers(ctx context.Context) {
	for ctx.Err() == nil {
		members, change, err := g.members()
		if err == nil && len(members) == 0 {
			return
		}
		if err == nil {
			again(ctx, change)
		}
	}
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

// oneRound is a script of one round, for objects that are good for one.
var oneRound = scenario.Script{Clients: 3, Rounds: 1}

// notLeftBehind is a double barrier of which more is asked: when all the clients are a
// group and one has entered, those enter, too, who have not been disturbed.
func notLeftBehind(w scenario.Workload) scenario.Workload {
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := judge(e)
		i := slices.IndexFunc(r.Verdicts, func(v linearizability.Verdict) bool { return v.Property == linearizability.Liveness })
		if why := leftBehind(e.History); err == nil && i >= 0 && why != "" {
			r.Verdicts[i].Status, r.Verdicts[i].Summary = linearizability.Violated, why
		}
		return r, err
	}
	return w
}

// leftBehind says who was, "" if nobody was.
func leftBehind(h linearizability.History) string {
	clients, entered := map[string]bool{}, map[string]int64{}
	for _, op := range h.Ops {
		clients[op.Client] = true
		if op.Kind == ops.Enter && op.Outcome == linearizability.OpOK {
			entered[op.Client] = op.Return
		}
	}
	for _, op := range h.Ops {
		gaveUp := op.Kind == ops.Enter && op.Outcome == linearizability.OpUnknown && op.ReturnTime-op.CallTime > 20*time.Second
		if !gaveUp || op.Input != strconv.Itoa(len(clients)) || disturbed(h, op) {
			continue
		}
		for _, other := range h.Ops {
			if step := entered[other.Client]; step > op.Call && step < op.Return {
				return fmt.Sprintf("%s gave up at step %d, though %s, which was there with it, had entered at step %d", op.Client, op.Return, other.Client, step)
			}
		}
	}
	return ""
}

// disturbed reports whether a client was told of a loss in a call.
func disturbed(h linearizability.History, op linearizability.Op) bool {
	return slices.ContainsFunc(h.Notices, func(n linearizability.Notice) bool {
		return n.Client == op.Client && n.Kind != linearizability.Connected && n.Step >= op.Call && n.Step <= op.Return
	})
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

// allEnter is a workload of a double barrier that all clients enter, without a limit to
// their patience, so that all have to get in.
func allEnter(replace func(*gathering)) scenario.Workload {
	w := gatheringOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		g := newGathering(p.Conn(), s.Clients, replace)
		p.Persist(func(int) error {
			return p.Do(ops.Enter, "", func(ctx context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, g.Enter(ctx)
			})
		})
	}
	w.Judge = scenario.Invariants()
	return w
}

var plantedDoubleBarriers = []Exhibit{
	{
		Title: "leaves before the others", Property: linearizability.Safety,
		Wrong: gatheringOf(func(g *gathering) {
			g.clear = g.removeReady
			g.awaitOthers = func(context.Context) {}
		}),
	},
	{
		Title: "counts ready, and removes it", Property: linearizability.Liveness,
		Wrong: gatheringOf(func(g *gathering) {
			g.clear = g.removeReady
			g.member = func(string) bool { return true }
		}),
	},
	{
		Title: "leaves its node when it gives up", Property: linearizability.Orphans,
		Wrong: gatheringOf(func(g *gathering) {
			g.clear = g.removeReady
			g.giveUp = func() error { return nil }
		}),
	},
	{
		Title: "waits for one more than there are", Property: linearizability.Liveness,
		Wrong: doubleOfSize(+1),
	},
	{Title: "waits for one less", Property: linearizability.Safety, Wrong: doubleOfSize(-1)},
}

// doubleOfSize is a workload of a double barrier for some more or less than there are.
func doubleOfSize(more int) scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, gatheringDir, env.Size+more)
	}).Named("")
}

func (g *gathering) removeReady() { _ = g.conn.Delete(readyPath, -1) }
