package queue

import (
	"cmp"
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// badPattern looks for patterns that no queue can show.
func badPattern(t table) (v lin.Verdict, bad bool) {
	for _, e := range t.elements {
		if e.offer == nil || len(e.znodes) == 0 && t.log.Known && len(e.takes) > 0 {
			return judging.Violated(lin.Linearizability,
				[]int64{e.takes[0].Call, e.takes[0].Return},
				"%s returned element %s, which was never in the queue%s",
				judging.Describe(*e.takes[0]), e.name, removedIn(t, *e.takes[0])), true
		}
		if len(e.takes) > 1 && !t.claims.MayDuplicate {
			steps := []int64{e.takes[0].Return, e.takes[1].Return}
			if a, b, twice := e.storedTwice(); twice && e.offer != nil {
				steps = []int64{a.Created, b.Created}
			}
			return judging.Violated(lin.Linearizability, steps, "%s", e.textOfTakes("taken")), true
		}
	}
	if v, bad := wrongOrder(t, lin.Linearizability, spansOf(t, false)); bad {
		return v, true
	}
	if t.claims.StaleReads {
		return tooStale(t)
	}
	return falseEmpty(t)
}

// removedIn tells what a take has removed, if that is known: with which data it was made.
func removedIn(t table, take lin.Op) string {
	for _, z := range t.log.Znodes {
		if z.Remover == take.Client && take.Call <= z.Deleted && z.Deleted <= take.Return {
			return fmt.Sprintf("; it removed %s, which %s had created with %q at step %d", z.Path,
				cmp.Or(z.Creator, "somebody"), z.Data, z.Created)
		}
	}
	return ""
}

// falseEmpty looks for an empty answer that is certainly wrong: at every moment of the call some
// element was in the queue, after its offer returned and before its take began.
func falseEmpty(t table) (v lin.Verdict, bad bool) {
	all := spansOf(t, false)
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if op.Kind == ops.Offer || !op.Empty || !op.OK() {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(all), func(s span) bool {
			return !t.ranking.ready(s.e, op.CallTime)
		})
		if covered(list, op.Call, op.Return) {
			first := slices.IndexFunc(list, func(s span) bool {
				return s.inRet < op.Call && s.out > op.Call
			})
			return judging.Violated(lin.Linearizability, []int64{op.Call, op.Return},
				"%s found the queue empty, although it never was meanwhile: "+
					"element %s (%s) was there when the call began",
				judging.Describe(*op), list[first].e.name,
				judging.Describe(*list[first].e.offer)), true
		}
	}
	return lin.Verdict{}, false
}

// covered reports whether open intervals of certain presence cover all of [from, to].
func covered(list []span, from, to int64) bool {
	for step := from; ; {
		reach := step
		for _, s := range list {
			if s.inRet < step && s.out > step {
				reach = max(reach, s.out)
			}
		}
		if reach > to {
			return true
		}
		if reach == step {
			return false
		}
		step = reach
	}
}
