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
	left := map[watchPlace][]int64{} // the steps of the last watch of each such wait
	for _, op := range h.Ops {
		if op.Kind != ops.Wait || op.Return < 0 || op.Outcome == linearizability.OpOK ||
			op.Deadline == 0 || op.ReturnTime < op.Deadline {
			continue
		}
		watch, set := lastWatch(r, op)
		if set == 0 {
			continue
		}
		steps := slices.DeleteFunc(append(left[watch], set), func(s int64) bool {
			return isOver(r, watch, s, op.Return)
		})
		left[watch] = steps
		if len(steps) >= manyWatches {
			report.Worsen(linearizability.Verdict{
				Property: linearizability.Orphans, Status: linearizability.Violated,
				Steps: steps, Znode: watch.path,
				Summary: fmt.Sprintf("each %s of %s that was given up left a watch on %s: there "+
					"are %d, and the client cannot remove one; the next %s must use the watch of "+
					"the one before", op.Kind, op.Client, watch.path, len(steps), op.Kind),
			})
			return
		}
	}
}

// watchPlace is what a client watches: a znode, or the list of its children.
type watchPlace struct {
	client, path string
	children     bool
}

// lastWatch is the last watch that a call has set, and the step at which it has; 0 if it set none.
func lastWatch(r *trace.Result, op linearizability.Op) (w watchPlace, set int64) {
	for _, q := range r.Requests {
		if q.Client != op.Client || q.Step < op.Call || q.Step > op.Return || !watches(r, q) {
			continue
		}
		text := r.Trace.Entry(q.Step).Text
		if strings.Contains(text, ": ok") || q.Op == "exists" && strings.Contains(text, ": NoNode") {
			w, set = watchPlace{q.Client, q.Path, lists(q.Op)}, q.Step
		}
	}
	return w, set
}

// isOver reports whether a watch that was set at a step is gone at another: an event has reached
// its client, or the client has lost its connection, and may have lost the watch.
func isOver(r *trace.Result, w watchPlace, set, at int64) bool {
	return slices.ContainsFunc(r.Events, func(e trace.EventPoint) bool {
		return e.Client == w.client && e.Path == w.path && e.Step > set && e.Step <= at
	}) || slices.ContainsFunc(r.Notices, func(n trace.Notice) bool {
		return n.Client == w.client && n.Step > set && n.Step <= at
	})
}
