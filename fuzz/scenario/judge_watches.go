package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// manyWatches is how many waits in vain must each have left a watch on one znode for a verdict.
const manyWatches = 5

// judgeWatches adds a verdict to a report if each of several waits in vain at a barrier has left
// one more watch on the same znode. The client keeps a channel for each until the watch fires, and
// has no way to remove one: the next wait must use the watch of the one before. A waiter for a lock
// stands in the queue anew with each call, and watches another node sooner or later.
func judgeWatches(report *linearizability.Report, r *trace.Result, h linearizability.History) {
	left := map[watchPlace][]int64{} // the step at which each such wait has set its last watch
	for _, op := range h.Ops {
		if op.Kind != ops.Wait || op.Return < 0 || op.Outcome == linearizability.OpOK ||
			op.Deadline == 0 || op.ReturnTime < op.Deadline {
			continue
		}
		for _, watch := range lastWatches(r, op) {
			w := watch.watchPlace
			steps := slices.DeleteFunc(append(left[w], watch.set), func(s int64) bool {
				return isOver(r, w, s, op.Return)
			})
			left[w] = steps
			if len(steps) >= manyWatches {
				report.Worsen(linearizability.Verdict{
					Property: linearizability.Orphans, Status: linearizability.Violated,
					Steps: steps, Znode: w.path,
					Summary: fmt.Sprintf("each %s of %s that was given up left a watch on %s: there "+
						"are %d, and the client cannot remove one; the next %s must use the watch "+
						"of the one before", op.Kind, op.Client, w.path, len(steps), op.Kind),
				})
				return
			}
		}
	}
}

// watchPlace is what a client watches: a znode, or the list of its children.
type watchPlace struct {
	client, path string
	children     bool
}

// setWatch is a watch and the step at which it was set.
type setWatch struct {
	watchPlace
	set int64
}

// lastWatches are the watches that a call has set, of each place the last one.
func lastWatches(r *trace.Result, op linearizability.Op) (list []setWatch) {
	for _, q := range r.Requests {
		if q.Client != op.Client || q.Step < op.Call || q.Step > op.Return || !watches(r, q) {
			continue
		}
		text := r.Trace.Entry(q.Step).Text
		if strings.Contains(text, ": ok") || q.Op == "exists" && strings.Contains(text, ": NoNode") {
			w := watchPlace{q.Client, q.Path, lists(q.Op)}
			list = slices.DeleteFunc(list, func(set setWatch) bool { return set.watchPlace == w })
			list = append(list, setWatch{w, q.Step})
		}
	}
	return list
}

// isOver reports whether a watch that was set at a step is gone at another: its event has reached
// its client, the client has removed it, or it has lost its connection, and maybe the watch, too.
func isOver(r *trace.Result, w watchPlace, set, at int64) bool {
	during := func(client string, step int64) bool {
		return client == w.client && set < step && step <= at
	}
	return slices.ContainsFunc(r.Events, func(e trace.EventPoint) bool {
		return during(e.Client, e.Step) && e.Path == w.path &&
			(e.Type == "NodeDeleted" || (e.Type == "NodeChildrenChanged") == w.children)
	}) || slices.ContainsFunc(r.Requests, func(q trace.RequestPoint) bool {
		return during(q.Client, q.Step) && q.Op == "removeWatches" && q.Path == w.path
	}) || slices.ContainsFunc(r.Notices, func(n trace.Notice) bool {
		return during(n.Client, n.Step)
	})
}
