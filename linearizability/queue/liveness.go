package queue

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgeLiveness judges the calls that are pending at rest and, if nothing is wrong with them,
// the takes that gave up.
func judgeLiveness(t table, left *lin.Leftovers) []lin.Verdict {
	verdicts := judgePendingCalls(t, left)
	if v, bad := overlooksElement(t); bad &&
		(len(verdicts) == 0 || verdicts[0].Status != lin.Violated) {
		return []lin.Verdict{v}
	}
	return verdicts
}

// judgePendingCalls looks for calls that are pending at rest and may not be. A take may wait for an
// empty queue; nothing else may wait.
func judgePendingCalls(t table, left *lin.Leftovers) []lin.Verdict {
	stuck := judging.PendingOps(t.history, ops.Offer, ops.Poll, ops.Take, ops.Peek)
	if left == nil {
		return judging.Unsettled(stuck)
	}
	waiting := 0
	for _, op := range stuck {
		n, e := elementAtRest(t, left)
		switch {
		case op.Kind != ops.Take:
			return []lin.Verdict{judging.NeverReturned(t.history, op, left)}
		case e != nil:
			return []lin.Verdict{judging.Violated(lin.Liveness, []int64{op.Call},
				"client %s waits in take (called at step %d) although element %s is there (%s)%s",
				op.Client, op.Call, e.name, n.Path, judging.WaitsFor(t.history, op, left))}
		}
		waiting++
	}
	if len(left.Wedged) > 0 {
		return []lin.Verdict{judging.Wedged(left)}
	}
	if waiting > 0 {
		return []lin.Verdict{judging.Fine(lin.Liveness, "%s still waiting for an element, and the queue is empty",
			judging.Count(waiting, "take"))}
	}
	return []lin.Verdict{judging.Fine(lin.Liveness, "every call returned")}
}

// elementAtRest returns an element that is in the queue at rest and could be taken, and its znode.
func elementAtRest(t table, left *lin.Leftovers) (lin.NodeAtRest, *element) {
	for _, n := range left.Nodes {
		if e := t.storedIn(n); e != nil && freeAtRest(t, e, n.Path) {
			return n, e
		}
	}
	return lin.NodeAtRest{}, nil
}

// freeAtRest reports whether an element that is stored at a path could be taken.
func freeAtRest(t table, e *element, path string) bool {
	for _, z := range e.znodes {
		if z.Path == path && z.Deleted == judging.Never {
			_, ok := t.freeAt(e, z, t.history.End, t.history.EndTime)
			return ok
		}
	}
	return t.ranking.ready(e, t.history.EndTime)
}

// orphansOf returns the queue's znodes that are neither elements nor directories: claims, locks,
// records of stored elements.
func orphansOf(t table, left *lin.Leftovers) []judging.Orphan {
	var list []judging.Orphan
	for _, n := range left.Nodes {
		if !judging.Below(t.claims.Path, n.Path) || n.Path == t.claims.itemsDir() ||
			judging.HasChild(left, n.Path) ||
			t.storedIn(n) != nil {
			continue
		}
		if n.Owner == 0 && t.claims.Path == "" {
			continue // directories cannot be told from bookkeeping
		}
		list = append(list, judging.Orphan{Node: n, Why: "is no element of the queue"})
	}
	return list
}

// withoutElementWatches leaves out the watches on the directory of the elements: a client that lost
// its connection twice in a row may have missed the event, and the watch cannot be taken back. The
// next take uses it again.
func (t table) withoutElementWatches(left *lin.Leftovers) *lin.Leftovers {
	return judging.WithoutWatches(left, t.claims.itemsDir())
}
