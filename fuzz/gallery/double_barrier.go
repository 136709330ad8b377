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
	{Slug: "any-wakeup-opens", Alias: "B53", Title: "any wake-up opens the barrier",
		Source: Report, Link: "https://github.com/apache/curator/issues/1290",
		Bug: "A member waits with a timeout, and goes in if it was woken before that is over. " +
			"But its watch fires for each newcomer, too, and for the end of the session. It goes " +
			"in although members are missing.",
		Property: safety, Wrong: doubleOf(countsMembers, func(b *plainDouble) {
			b.await = func(ctx context.Context, change <-chan zk.Event) bool {
				_, err := await(ctx, change)
				return err == nil // wrong: the event may tell of anything
			}
		}), Script: oneRound},
	{Slug: "gave-up-still-counted", Alias: "B55",
		Title:  "a member that gives up stays in the count",
		Source: Report, Link: "https://github.com/apache/curator/issues/838",
		Bug: "A member that waits in vain for the others returns and leaves its node. It is " +
			"counted as long as its session lives: when it comes again, it is two.",
		Property: safety, Wrong: doubleOf(countsMembers, func(b *plainDouble) {
			b.giveUp = nothing // wrong: the node counts
		}), Script: scenario.Script{Clients: 3, Rounds: 2}},
	{Slug: "ready-counted-as-member", Alias: "B57", Title: "\"ready\" is counted as a member",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#double-barriers",
		See: []string{"Netflix/curator issue 99"},
		Bug: "The number of members is the number of children of the directory, and \"ready\" is " +
			"a child. When all have left there is one too many, and all wait for it.",
		Property: liveness, Wrong: doubleOf(countsReady), Script: oneRound},
	{Slug: "left-before-counted", Alias: "B58", Title: "all were there, but not for long enough",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		See: []string{"the barrier of ZooKeeper's own tutorial"},
		Bug: "Each member counts for itself until all are there. A fast one enters and leaves " +
			"before a slow one has counted: that one never sees all of them, and waits for ever.",
		Property: liveness, Wrong: notLeftBehind(doubleOf(countsMembers)),
		Right: notLeftBehind(rightDouble()), Script: oneRound},
	{Slug: "stays-ready", Alias: "S1-9", Title: "the barrier stays open",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#double-barriers",
		Bug: "As drawn, \"ready\" stays when all have left. A member of the next round finds it, " +
			"and does not wait for the others.",
		Property: safety, Wrong: doubleOf(), Script: scenario.Script{Clients: 3, Rounds: 2}},
	{Slug: "all-watch-leaving", Alias: "S1-11", Title: "all members watch all others leave",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "A member that leaves deletes its node and watches the directory until it is empty. " +
			"Each one that leaves wakes all that have left before it, which list and watch " +
			"again: as many requests as the square of the members.",
		Property: invariant,
		// wrong: one of them is enough
		Wrong:  leaving(func(b *plainDouble) object.DoubleBarrierer { return b }),
		Right:  leaving(func(b *plainDouble) object.DoubleBarrierer { return orderly{b} }),
		Script: scenario.Script{Clients: 4, Rounds: 1}},
	{Slug: "two-members-one-name", Alias: "S1-12", Title: "two members of one name",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperTutorial.md#barriers",
		Bug: "A member's node is named after its process, and a node that is there is taken for " +
			"an earlier own one. In containers all processes are number 1: they share one node, " +
			"and are never enough.",
		Property: liveness, Wrong: doubleOf(func(b *plainDouble) {
			b.join = func() error {
				b.own = doubleDir + "/m-1"
				_, err := b.conn.Create(b.own, nil, zk.FlagEphemeral, acl)
				return ignore(err, zk.ErrNodeExists) // wrong: it may be another's
			}
		}), Script: oneRound},
	{Slug: "failed-count-not-repeated", Alias: "S4-34",
		Title:  "a count that failed is not repeated",
		Source: Report, Link: "https://github.com/apache/curator/issues/848",
		Bug: "A listener counts the members at each event. If the connection is lost over the " +
			"count the error is logged, and no other event comes, as there is no watch.",
		Property: liveness, Wrong: allEnter(func(b *plainDouble) {
			look := b.look
			b.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				if errors.Is(err, zk.ErrConnectionClosed) {
					return false, nil, nil // wrong: there is nothing to wait for
				}
				return in, change, err
			}
		}), Right: allEnter(), Script: oneRound},
	{Slug: "own-place-lost-unnoticed", Alias: "S4-36",
		Title:  "a member does not notice that its node is gone",
		Source: Text, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/barrier.py#L87-L93",
		Bug: "A member makes its node and then counts. When its session ends the node goes, and " +
			"is not made again: the member waits with the others for one more, and it is that " +
			"one.",
		Property: liveness, Wrong: allEnter(func(b *plainDouble) {
			look := b.look
			b.look = func() (bool, <-chan zk.Event, error) {
				in, change, err := look()
				return in, change, ignore(err, errGone) // wrong: it has to come again
			}
		}), Right: allEnter(), Script: oneRound},
}

// plainDouble is the double barrier of the ZooKeeper guide in steps: a node for each member, and
// "ready", which a member makes that sees enough of them. It is good for one round, as "ready"
// stays. An exhibit replaces a step by a wrong one.
type plainDouble struct {
	conn    *zk.Conn
	size    int
	own     string // path of the own node
	watches bool   // a count of the members sets a watch

	join   func() error
	member func(name string) bool                                 // whether a child counts
	look   func() (in bool, change <-chan zk.Event, err error)    // whether all are there
	await  func(ctx context.Context, change <-chan zk.Event) bool // whether that is enough to enter
	giveUp func() error

	awaitOthers func(ctx context.Context) // until all have left
	clear       func()                    // after that
}

// The nodes of a double barrier, as its workload has them.
const (
	doubleDir = "/double"
	readyPath = doubleDir + "/ready"
)

// doubleOf is a workload of a double barrier with some steps replaced.
func doubleOf(steps ...func(*plainDouble)) scenario.Workload {
	return beside(object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return newDouble(env.Conn, env.Size, steps...)
	}, object.BarrierClaims{LeavesAtRest: []string{readyPath}}), doubleDir)
}

func newDouble(c *zk.Conn, size int, steps ...func(*plainDouble)) *plainDouble {
	b := &plainDouble{conn: c, size: size, watches: true}
	b.join, b.member, b.look, b.giveUp = b.joinOnce, isMember, b.lookForReady, b.remove
	b.await = func(ctx context.Context, change <-chan zk.Event) bool {
		await(ctx, change)
		return false
	}
	b.awaitOthers, b.clear = b.awaitNoOthers, func() {}
	return with(b, steps)
}

// rightDouble is the double barrier of package recipes, which is right.
func rightDouble() scenario.Workload { return builtIn("double-barrier", "recipes.DoubleBarrier") }

// countsMembers enters after a count, without "ready".
func countsMembers(b *plainDouble) {
	b.look = b.lookAtMembers // wrong: a slow member does not see that all were there
}

// countsReady takes "ready" for a member.
func countsReady(b *plainDouble) { b.member = func(string) bool { return true } }

func (b *plainDouble) Enter(ctx context.Context) error {
	if err := b.join(); err != nil {
		return err
	}
	for looked := false; !looked || ctx.Err() == nil; looked = true {
		in, change, err := b.look()
		switch {
		case errors.Is(err, errGone): // with the session
			if err := b.join(); err != nil {
				return err
			}
		case err != nil: // the next request waits for the connection
		case in || b.await(ctx, change):
			return nil
		}
	}
	return errors.Join(ctx.Err(), b.giveUp())
}

// Leave deletes the own node and waits until there are no others.
func (b *plainDouble) Leave(ctx context.Context) error {
	if err := b.remove(); err != nil {
		return err
	}
	b.awaitOthers(ctx)
	b.clear()
	return ctx.Err()
}

func (b *plainDouble) awaitNoOthers(ctx context.Context) {
	for ctx.Err() == nil {
		members, change, err := b.members(true)
		if err == nil && len(members) == 0 {
			return
		}
		if err == nil {
			await(ctx, change)
		}
	}
}

func (b *plainDouble) joinOnce() (err error) {
	b.own, err = memberNode(b.conn, doubleDir)
	return err
}

func (b *plainDouble) remove() error { return remove(b.conn, b.own) }

// memberNode makes one ephemeral for a member, also after lost replies, and returns its path.
func memberNode(conn *zk.Conn, dir string) (string, error) {
	l := newLock(conn, dir)
	l.naming = func() string { return strings.TrimSuffix(l.guid(), marker) + "m-" }
	err := l.join()
	return l.path(l.own), err
}

func isMember(name string) bool { return strings.Contains(name, "m-") }

// lookForReady looks for "ready", and makes it if enough members are there.
func (b *plainDouble) lookForReady() (bool, <-chan zk.Event, error) {
	ready, _, change, err := b.conn.ExistsW(readyPath)
	if ready || err != nil {
		return ready, nil, err
	}
	if all, _, err := b.lookAtMembers(); !all || err != nil {
		return false, change, err
	}
	_, err = b.conn.Create(readyPath, nil, 0, acl)
	err = ignore(err, zk.ErrNodeExists)
	return err == nil, nil, err
}

// lookAtMembers counts the members.
func (b *plainDouble) lookAtMembers() (bool, <-chan zk.Event, error) {
	members, change, err := b.members(b.watches)
	if err == nil && !slices.Contains(members, path.Base(b.own)) {
		err = errGone
	}
	return len(members) >= b.size, change, err
}

// members lists the members in the order in which they came.
func (b *plainDouble) members(watch bool) (names []string, change <-chan zk.Event, err error) {
	if watch {
		names, _, change, err = b.conn.ChildrenW(doubleDir)
	} else {
		names, _, err = b.conn.Children(doubleDir)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !b.member(name) })
	number := func(name string) string { return name[strings.LastIndex(name, "-")+1:] }
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, change, err
}

// oneRound is a script of one round, for objects that are good for one.
var oneRound = scenario.Script{Clients: 3, Rounds: 1}

// notLeftBehind is a double barrier with one more condition: when all the clients are a group and
// one has entered, all undisturbed members enter, too.
func notLeftBehind(w scenario.Workload) scenario.Workload {
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := judge(e)
		for i, v := range r.Verdicts {
			if why := leftBehind(e.History); v.Property == liveness && err == nil && why != "" {
				r.Verdicts[i].Status, r.Verdicts[i].Summary = linearizability.Violated, why
			}
		}
		return r, err
	}
	return w
}

// leftBehind names a member that was left behind, "" without one.
func leftBehind(h linearizability.History) string {
	clients, entered := map[string]bool{}, map[string]int64{}
	for _, op := range h.Ops {
		clients[op.Client] = true
		if op.Kind == ops.Enter && op.Outcome == linearizability.OpOK {
			entered[op.Client] = op.Return
		}
	}
	for _, op := range h.Ops {
		gaveUp := op.Kind == ops.Enter && op.Outcome == linearizability.OpUnknown &&
			op.ReturnTime-op.CallTime > 20*time.Second
		if !gaveUp || op.Input != strconv.Itoa(len(clients)) || disturbed(h, op) {
			continue
		}
		for _, other := range h.Ops {
			if step := entered[other.Client]; step > op.Call && step < op.Return {
				return fmt.Sprintf("%s gave up at step %d, though %s, which was there with it, "+
					"had entered at step %d", op.Client, op.Return, other.Client, step)
			}
		}
	}
	return ""
}

// disturbed reports whether a client was told of a loss in a call.
func disturbed(h linearizability.History, op linearizability.Op) bool {
	return slices.ContainsFunc(h.Notices, func(n linearizability.Notice) bool {
		return n.Client == op.Client && n.Kind != linearizability.Connected &&
			n.Step >= op.Call && n.Step <= op.Return
	})
}

// leaving is a workload of a double barrier that judges how its members leave.
func leaving(open func(*plainDouble) object.DoubleBarrierer) scenario.Workload {
	w := object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return open(newDouble(env.Conn, env.Size, func(b *plainDouble) { b.watches = false }))
	})
	return judgedBy(beside(w, doubleDir), "who leaves wakes one, but for the last",
		leaverWakesSeveral)
}

// orderly is a member that leaves as the guide says: the first waits for the last, and the others,
// when they have deleted their nodes, for the first.
type orderly struct{ *plainDouble }

func (b orderly) Leave(ctx context.Context) error {
	for ctx.Err() == nil {
		names, _, err := b.members(false)
		if err != nil {
			continue // the next request waits for the connection
		}
		if len(names) == 0 || len(names) == 1 && names[0] == path.Base(b.own) {
			return b.remove()
		}
		other := names[0]
		if other == path.Base(b.own) {
			other = names[len(names)-1]
		} else if err := b.remove(); err != nil {
			return err
		}
		if there, _, gone, err := b.conn.ExistsW(doubleDir + "/" + other); err == nil && there {
			await(ctx, gone)
		}
	}
	return errors.Join(ctx.Err(), b.remove())
}

// leaverWakesSeveral looks at runs in which all have waited to the end: a watch of a wait that was
// given up cannot be taken back.
func leaverWakesSeveral(e scenario.Evidence) error {
	inside := 0
	for _, ev := range e.History.Server {
		switch {
		case !strings.HasPrefix(ev.Path, doubleDir+"/") || !isMember(ev.Path):
		case ev.Kind == linearizability.NodeCreated:
			inside++
		case ev.Kind == linearizability.NodeDeleted:
			if inside--; inside > 0 && ev.Notified > 1 && !e.GaveUp() {
				return fmt.Errorf("the end of %s at step %d wakes %d, with %d still inside",
					ev.Path, ev.Step, ev.Notified, inside)
			}
		}
	}
	return nil
}

// allEnter is a workload of a double barrier that all clients enter, without a limit to their
// patience, so that all have to get in.
func allEnter(steps ...func(*plainDouble)) scenario.Workload {
	w := doubleOf()
	w.Play = func(p *scenario.Player, s scenario.Script) {
		b := newDouble(p.Conn(), s.Clients, steps...)
		p.Persist(func(int) error { return do(p, ops.Enter, "", b.Enter) })
	}
	return judgedByReturns(w)
}

var plantedDoubleBarriers = []Exhibit{
	planted("leaves before the others", safety, doubleOf(removesReady,
		func(b *plainDouble) { b.awaitOthers = func(context.Context) {} })),
	planted("counts ready, and removes it", liveness, doubleOf(removesReady, countsReady)),
	planted("leaves its node when it gives up", orphans, doubleOf(removesReady,
		func(b *plainDouble) { b.giveUp = nothing })),
	planted("waits for one more than there are", liveness, doubleOfSize(+1)),
	planted("waits for one less", safety, doubleOfSize(-1)),
}

// removesReady deletes "ready" after all have left.
func removesReady(b *plainDouble) {
	b.clear = func() { _ = b.conn.Delete(readyPath, -1) }
}

// doubleOfSize is a workload of a double barrier for some more or less than there are.
func doubleOfSize(more int) scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, doubleDir, env.Size+more)
	})
}
