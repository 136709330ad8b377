package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A row of the comparison is a kind of object, with a cell for each library.
type row struct {
	kind  string
	cells map[string][]claim // by the name of a column
}

// A claim has the promises of a library's recipes by their own documentation.
type claim struct {
	promise string
	recipes []string // whose figures are shown; none: nothing is measured
	note    int      // the number of a footnote of the page; 0 for none
}

// The columns of the table. The client's own lock is a workload of package fuzz.
const (
	curator = "Curator"
	kazoo   = "kazoo"
	apache  = "Apache"
	client  = "go-zookeeper"
)

var columns = []string{oursName, curator, kazoo, apache, client}

// ours is a cell of this project's recipes.
func ours(promise string, recipes ...string) []claim {
	for i, name := range recipes {
		recipes[i] = "recipes." + name
	}
	return []claim{{promise: promise, recipes: recipes}}
}

// one is a cell with one recipe.
func one(promise, recipe string, note int) []claim {
	return []claim{{promise, []string{recipe}, note}}
}

// textCell is a cell without a figure.
func textCell(promise string) []claim { return []claim{{promise: promise}} }

var rows = []row{
	{"lock", map[string][]claim{
		oursName: ours("fair, token, loss signal", "Lock"),
		curator:  one("fair, re-entrant", "InterProcessMutex", 0),
		kazoo:    one("fair", "Lock", 0),
		apache:   one("fair, by a listener", "recipes.lock.WriteLock", 1),
		client:   one("fair", "zk.Lock", 2),
	}},
	{"re-entrant lock", map[string][]claim{
		oursName: ours("token, loss signal", "ReentrantLock"),
		curator:  textCell("the lock above"),
	}},
	{"read-write lock", map[string][]claim{
		oursName: ours("fair, re-entrant, downgrade", "RWLock"),
		curator:  one("fair, re-entrant, downgrade", "InterProcessReadWriteLock", 0),
		kazoo:    one("fair", "ReadLock, WriteLock", 3),
	}},
	{"semaphore", map[string][]claim{
		oursName: ours("leases with token and loss signal", "Semaphore"),
		curator:  one("mostly fair leases", "InterProcessSemaphoreV2", 0),
		kazoo:    one("leases", "Semaphore", 0),
	}},
	{"several locks as one", map[string][]claim{
		oursName: ours("in one order", "MultiLock"),
		curator:  one("in the order given", "InterProcessMultiLock", 0),
	}},
	{"lock that can be asked back", map[string][]claim{
		oursName: ours("", "RevocableLock"),
		curator:  textCell("`makeRevocable`: n. m."),
	}},
	{"leader", map[string][]claim{
		oursName: append(ours("one, epoch", "LeaderLatch"), ours("by turns", "LeaderSelector")...),
		curator: append(one("one", "LeaderLatch", 0),
			one("by turns, fair", "LeaderSelector", 0)...),
		kazoo:  one("by turns", "Election", 0),
		apache: one("one", "recipes.leader.LeaderElectionSupport", 1),
	}},
	{"barrier", map[string][]claim{
		oursName: ours("", "Barrier"),
		curator:  one("", "DistributedBarrier", 0),
		kazoo:    one("", "Barrier", 0),
	}},
	{"double barrier", map[string][]claim{
		oursName: ours("", "DoubleBarrier"),
		curator:  one("", "DistributedDoubleBarrier", 4),
		kazoo:    one("", "DoubleBarrier", 0),
	}},
	{"queue", map[string][]claim{
		oursName: ours("FIFO, exactly once", "Queue"),
		curator: append(
			one("FIFO for one consumer, an element is lost if it dies", "DistributedQueue", 5),
			one("`SimpleDistributedQueue`", "SimpleDistributedQueue", 5)...),
		kazoo:  one("removed before it is processed", "Queue", 5),
		apache: one("FIFO", "recipes.queue.DistributedQueue", 5),
	}},
	{"queue by priority, by due time, with ids", map[string][]claim{
		oursName: ours("exactly once", "PriorityQueue", "DelayQueue", "IDQueue"),
		curator: {{"as above", []string{
			"DistributedPriorityQueue", "DistributedDelayQueue", "DistributedIdQueue",
		}, 5}},
		kazoo: textCell("by priority: the queue above"),
	}},
	{"queue with acknowledgement", map[string][]claim{
		oursName: ours("at least once", "LockQueue"),
		curator:  one("at least once (`lockPath`)", "DistributedQueue, lockPath", 6),
		kazoo:    one("an element is locked, then consumed", "LockingQueue", 6),
	}},
	{"counter", map[string][]claim{
		oursName: ours("a lost reply neither adds twice nor never", "Counter"),
		curator:  one("may fail, see `succeeded()`", "DistributedAtomicLong", 7),
		kazoo:    one("atomic", "Counter", 7),
	}},
	{"shared value", map[string][]claim{
		oursName: ours("compare and set that knows its own write", "SharedValue"),
		curator:  one("compare and set", "SharedCount", 7),
	}},
	{"member of a group", map[string][]claim{
		oursName: ours("comes back after expiry", "Group"),
		curator: append(one("comes back after expiry", "GroupMember", 0),
			one("`PersistentNode`", "PersistentNode", 0)...),
		kazoo: one("does not come back", "Party", 0),
	}},
	{"ids", map[string][]claim{oursName: ours("never twice", "IDGenerator")}},
	{"caches", map[string][]claim{
		oursName: ours("never go back, converge, tell when stale",
			"NodeCache", "ChildrenCache", "TreeCache"),
		curator: textCell("`CuratorCache`, no promise on every change: n. m."),
		kazoo:   textCell("`DataWatch`, `ChildrenWatch`, `TreeCache`: n. m."),
	}},
	{"configuration, registry of services", map[string][]claim{
		oursName: ours("", "ConfigCenter", "ServiceRegistry"),
		curator:  textCell("registry (`curator-x-discovery`): n. m."),
	}},
}

// printTable prints the comparison in Markdown.
func printTable(w io.Writer, done []*sweep) error {
	var b strings.Builder
	b.WriteString("\n| kind")
	for _, name := range columns {
		fmt.Fprintf(&b, " | %s", heading(name, done))
	}
	fmt.Fprintf(&b, " |\n|---%s|\n", strings.Repeat("|---", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s", r.kind)
		for _, name := range columns {
			fmt.Fprintf(&b, " | %s", r.cell(name, done))
		}
		b.WriteString(" |\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// heading is the name of a column and the version of the library, if it was measured.
func heading(column string, done []*sweep) string {
	if column == oursName {
		return "this project"
	}
	for _, s := range done {
		if s.library == column && s.version != "" {
			return s.version
		}
	}
	return column
}

// cell shows the claims of a library about one kind.
func (r row) cell(column string, done []*sweep) string {
	var shown []string
	for _, c := range r.cells[column] {
		parts := slices.DeleteFunc([]string{c.promise, c.figures(column, done)},
			func(s string) bool { return s == "" })
		text := strings.Join(parts, ": ")
		if c.note > 0 {
			text += fmt.Sprintf(" <sup>%d</sup>", c.note)
		}
		shown = append(shown, text)
	}
	if len(shown) == 0 {
		return "-"
	}
	return strings.Join(shown, "; ")
}

// figures are the points that the recipes of a claim survived.
func (c claim) figures(column string, done []*sweep) string {
	var shown []string
	for _, recipe := range c.recipes {
		shown = append(shown, pointsOf(column, recipe, done))
	}
	return strings.Join(shown, ", ")
}

// pointsOf is "N of M" for one recipe, or "n. m." if it was not measured.
func pointsOf(column, recipe string, done []*sweep) string {
	library := column
	if column == client {
		library = oursName
	}
	for _, s := range done {
		switch {
		case s.library != library || s.recipe != recipe:
		case s.broken != "":
			return "fails without a fault"
		case len(s.flaky) > 0:
			return fmt.Sprintf("%d of %d (%d flaky)", s.survived, s.points, len(s.flaky))
		default:
			return fmt.Sprintf("%d of %d", s.survived, s.points)
		}
	}
	return "n. m."
}
