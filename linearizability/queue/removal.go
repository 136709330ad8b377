package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// removal is the delete of an element's znode, and the call behind it.
type removal struct {
	element *element
	znode   *judging.Znode
	by      *lin.Op // nil if no call of the client fits
}

// findRemovals finds the call behind each removed znode, but for those that a discard removed. Each
// step serves what the steps before it have left:
//
//  1. the take that returned the element and was under way, or else had begun before;
//  2. a take that returned it with an error;
//  3. if it was put back: a take that failed, and was under way all the time;
//  4. another take without a result: see likelyTake.
func findRemovals(t table) []removal {
	var list []removal
	for _, e := range t.elements {
		for _, z := range e.znodes {
			if z.Deleted != judging.Never && !(e.discard != nil && z == e.last()) {
				list = append(list, removal{e, z, nil})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b removal) int {
		return cmp.Compare(a.znode.Deleted, b.znode.Deleted)
	})
	used := map[*lin.Op]bool{}
	give := func(r *removal, by *lin.Op) {
		if r.by == nil && by != nil {
			r.by, used[by] = by, true
		}
	}
	for i := range slices.Backward(list) { // the last znode of an element comes first
		give(&list[i], lastDuring(list[i].element.takes, used, list[i].znode))
	}
	for i, r := range list {
		give(&list[i], firstBefore(r.element.takes, used, r.znode))
	}
	for i, r := range list {
		give(&list[i], firstBefore(r.element.uncertainTakes, used, r.znode))
	}
	for i, r := range list {
		give(&list[i], failedAround(t.history.Ops, used, r))
	}
	for i, r := range list {
		give(&list[i], likelyTake(t.history.Ops, used, r.znode))
	}
	return list
}

// lastDuring returns the last of some takes that removed a znode before they returned.
func lastDuring(takes []*lin.Op, used map[*lin.Op]bool, z *judging.Znode) (last *lin.Op) {
	for _, op := range takes {
		if !used[op] && (op.Client == z.Remover || z.Remover == "") && op.Call <= z.Deleted &&
			z.Deleted <= op.Return {
			last = op
		}
	}
	return last
}

// firstBefore returns the first of some takes that had begun before a znode was removed.
func firstBefore(takes []*lin.Op, used map[*lin.Op]bool, z *judging.Znode) *lin.Op {
	for _, op := range takes {
		if !used[op] && op.Call <= z.Deleted && (op.Client == z.Remover || z.Remover == "") {
			return op
		}
	}
	return nil
}

// failedAround returns a failed take during which its client removed an element and put it back.
func failedAround(calls []lin.Op, used map[*lin.Op]bool, r removal) *lin.Op {
	after := slices.Index(r.element.znodes, r.znode) + 1
	if after == len(r.element.znodes) || !putBack(r.znode, r.element.znodes[after]) {
		return nil
	}
	for i := range calls {
		op := &calls[i]
		if isTake(op) && op.Outcome == lin.OpFailed && !used[op] && couldRemove(*op, r.znode) &&
			r.element.znodes[after].Created <= op.Return {
			return op
		}
	}
	return nil
}

// likelyTake returns the take without a result that is likeliest behind the removal of a znode, nil
// if there is none. A take in doubt comes before one that has certainly failed, and one that was
// under way before one that had ended. Of those under way the first to end is taken, since the
// others may have removed another element later.
func likelyTake(calls []lin.Op, used map[*lin.Op]bool, z *judging.Znode) *lin.Op {
	var inDoubt, inDoubtBefore, failed, failedBefore *lin.Op
	for i := range calls {
		op := &calls[i]
		if !isTake(op) || op.OK() || used[op] || z.Remover == "" || !couldRemove(*op, z) {
			continue
		}
		underWay, before := &inDoubt, &inDoubtBefore
		if op.Outcome == lin.OpFailed {
			underWay, before = &failed, &failedBefore
		}
		switch {
		case judging.End(*op) < z.Deleted:
			*before = op
		case *underWay == nil || judging.End(*op) <= judging.End(**underWay):
			*underWay = op
		}
	}
	return cmp.Or(inDoubt, inDoubtBefore, failed, failedBefore)
}

// couldRemove reports whether a znode was removed by the client of a call, after the call had begun
// and, if the call succeeded, before it returned.
func couldRemove(op lin.Op, z *judging.Znode) bool {
	return z.Deleted != judging.Never && op.Client == z.Remover && op.Call <= z.Deleted &&
		(!op.OK() || z.Deleted <= op.Return)
}

// removalOf returns the removal of a znode, and whether it was removed.
func (t table) removalOf(z *judging.Znode) (removal, bool) {
	for _, r := range t.removals {
		if r.znode == z {
			return r, true
		}
	}
	return removal{}, false
}

// removalBy returns the removal that a call made, if it made one.
func (t table) removalBy(op *lin.Op) (removal, bool) {
	for _, r := range t.removals {
		if r.by == op {
			return r, true
		}
	}
	return removal{}, false
}

// nameGreedyTakes begins each violation about an element that was removed by a take which removed
// others, too, with that take: it can return one. With several takes of a client at once it is not
// known which of them removed what.
func (t table) nameGreedyTakes(r *lin.Report) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		for j := range t.history.Ops {
			if op := &t.history.Ops[j]; v.Status == lin.Violated && isTake(op) {
				if removed := t.removedIn(op, v.Summary); removed != nil {
					v.Summary = fmt.Sprintf("%s removed %s, and can return only one: %s",
						judging.Describe(*op), judging.Listed(removed), v.Summary)
					break
				}
			}
		}
	}
}

// removedIn are the elements that a take removed, if there are several, it was the only take of its
// client, and a text names one of them.
func (t table) removedIn(op *lin.Op, about string) (texts []string) {
	alone := !slices.ContainsFunc(t.history.Ops, func(other lin.Op) bool {
		return other.Client == op.Client && isTake(&other) && other.Call != op.Call &&
			other.Call <= judging.End(*op) && op.Call <= judging.End(other)
	})
	named := false
	for _, r := range t.removals {
		if alone && r.znode.Remover == op.Client && op.Call <= r.znode.Deleted &&
			r.znode.Deleted <= judging.End(*op) && !r.element.isPutBack() {
			texts = append(texts, fmt.Sprintf("%s at step %d", r.element.name, r.znode.Deleted))
			named = named || slices.Contains(strings.FieldsFunc(about, isNoName), r.element.value)
		}
	}
	if len(texts) < 2 || !named {
		return nil
	}
	return texts
}

func isNoName(r rune) bool { return r != '~' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
