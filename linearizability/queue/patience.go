package queue

import (
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// overlooksElement looks for a take that failed, or went on waiting, although an element was in the
// queue for the whole patience, without a known obstacle for its client.
func overlooksElement(t table) (v lin.Verdict, bad bool) {
	if t.claims.Patience <= 0 {
		return lin.Verdict{}, false
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Kind != ops.Take || op.Pending() {
			continue
		}
		e, stay := longestBefore(t, op)
		if op.Outcome == lin.OpFailed && stay >= t.claims.Patience {
			return judging.Violated(lin.Liveness, []int64{op.Call, op.Return},
				"take of %s (steps %d to %d) gave up although element %s was in the queue "+
					"for the last %v",
				op.Client, op.Call, op.Return, t.ranking.describe(e), stay), true
		}
		if e, stay := takenLate(t, op); stay >= t.claims.Patience {
			return judging.Violated(lin.Liveness, []int64{op.Call, op.Return},
				"take of %s (steps %d to %d) waited although element %s, "+
					"which it took in the end, had been in the queue for %v",
				op.Client, op.Call, op.Return, t.ranking.describe(e), stay), true
		}
	}
	return lin.Verdict{}, false
}

// takenLate returns the element that a take removed, and its time in the queue while the take
// waited. A client that learned of a loss meanwhile is excused: the go-zookeeper client can lose
// the event of a watch with its connection, so the take had to look again without an event.
func takenLate(t table, op *lin.Op) (*element, time.Duration) {
	if !op.OK() || judging.Undisturbed(t.history, *op, t.log) > op.CallTime {
		return nil, 0
	}
	for _, e := range t.elements {
		if len(e.znodes) == 0 || !slices.Contains(e.takes, op) {
			continue
		}
		z := e.last()
		since, ok := t.freeAt(e, z, z.Deleted-1, z.DeletedTime)
		if ok && z.Deleted <= op.Return {
			return e, z.DeletedTime - max(op.CallTime, since)
		}
	}
	return nil, 0
}

// longestBefore returns the element that was in the queue, as one znode, for the longest time up to
// the return of the take, and that time. An element that is put back again and again has many
// znodes, none of which exists for long.
func longestBefore(t table, op *lin.Op) (longest *element, stay time.Duration) {
	from := judging.Undisturbed(t.history, *op, t.log)
	for _, e := range t.elements {
		for _, z := range e.znodes {
			since, ok := t.freeAt(e, z, op.Return, op.ReturnTime)
			if d := op.ReturnTime - max(from, since); ok && d > stay {
				longest, stay = e, d
			}
		}
	}
	return longest, stay
}
