package linearizability

import "github.com/zksim/zksim/linearizability/ops"

// judgeQueueLiveness judges the calls that are pending at rest and, if nothing is wrong with them,
// the takes that gave up.
func judgeQueueLiveness(t queueTable, left *Leftovers) []Verdict {
	verdicts := judgePendingCalls(t, left)
	if v, bad := overlooksElement(t); bad &&
		(len(verdicts) == 0 || verdicts[0].Status != Violated) {
		return []Verdict{v}
	}
	return verdicts
}

// judgePendingCalls looks for calls that are pending at rest and may not be. A take may wait for an
// empty queue; nothing else may wait.
func judgePendingCalls(t queueTable, left *Leftovers) []Verdict {
	stuck := PendingOps(t.history, ops.Offer, ops.Poll, ops.Take, ops.Peek)
	if left == nil {
		return unsettled(stuck)
	}
	waiting := 0
	for _, op := range stuck {
		n, e := elementAtRest(t, left)
		switch {
		case op.Kind != ops.Take:
			return []Verdict{neverReturned(op, left)}
		case e != nil:
			return []Verdict{violated(Liveness, []int64{op.Call},
				"client %s waits in take (called at step %d) although element %s is there (%s)%s",
				op.Client, op.Call, e.name, n.Path, waitsFor(op, left))}
		}
		waiting++
	}
	if len(left.Wedged) > 0 {
		return []Verdict{wedgedVerdict(left)}
	}
	if waiting > 0 {
		return []Verdict{fine(Liveness, "%s still waiting for an element, and the queue is empty",
			count(waiting, "take"))}
	}
	return []Verdict{fine(Liveness, "every call returned")}
}

// elementAtRest returns an element that is in the queue at rest and could be taken, and its znode.
func elementAtRest(t queueTable, left *Leftovers) (NodeAtRest, *element) {
	for _, n := range left.Nodes {
		if e := t.storedIn(n); e != nil && freeAtRest(t, e, n.Path) {
			return n, e
		}
	}
	return NodeAtRest{}, nil
}

// freeAtRest reports whether an element that is stored at a path could be taken.
func freeAtRest(t queueTable, e *element, path string) bool {
	for _, z := range e.znodes {
		if z.path == path && z.deleted == never {
			_, ok := t.freeAt(e, z, t.history.End, t.history.EndTime)
			return ok
		}
	}
	return t.ranking.ready(e, t.history.EndTime)
}

// queueOrphans returns the queue's znodes that are neither elements nor directories: claims, locks,
// records of stored elements.
func queueOrphans(t queueTable, left *Leftovers) []orphan {
	var list []orphan
	for _, n := range left.Nodes {
		if !below(t.claims.Path, n.Path) || n.Path == t.claims.itemsDir() ||
			HasChild(left, n.Path) ||
			t.storedIn(n) != nil {
			continue
		}
		if n.Owner == 0 && t.claims.Path == "" {
			continue // directories cannot be told from bookkeeping
		}
		list = append(list, orphan{n, "is no element of the queue"})
	}
	return list
}

// withoutElementWatches leaves out the watches on the directory of the elements: a client that lost
// its connection twice in a row may have missed the event, and the watch cannot be taken back. The
// next take uses it again.
func (t queueTable) withoutElementWatches(left *Leftovers) *Leftovers {
	return WithoutWatches(left, t.claims.itemsDir())
}
