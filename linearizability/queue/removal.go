package queue

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// removal is the delete of an element's znode, and the call behind it.
type removal struct {
	element *element
	znode   *judging.Znode
	by      *lin.Op // nil if no call of the client fits
}

// findRemovals finds the call behind each removed znode: the take of the same client that returned
// the element, or else the client's last earlier call without a result.
func findRemovals(t table) []removal {
	used := map[*lin.Op]bool{}
	var list []removal
	for _, e := range t.elements {
		for _, z := range e.znodes {
			if z.Deleted == judging.Never {
				continue
			}
			by := cmp.Or(firstUnused(e.takes, used, z), firstUnused(e.uncertainTakes, used, z))
			if by != nil {
				used[by] = true
			}
			list = append(list, removal{e, z, by})
		}
	}
	slices.SortStableFunc(list, func(a, b removal) int {
		return cmp.Compare(a.znode.Deleted, b.znode.Deleted)
	})
	for i, r := range list {
		if r.by != nil {
			continue
		}
		if by := lastWithoutResult(t.history.Ops, used, r.znode); by != nil {
			list[i].by, used[by] = by, true
		}
	}
	return list
}

func firstUnused(takes []*lin.Op, used map[*lin.Op]bool, z *judging.Znode) *lin.Op {
	for _, op := range takes {
		if !used[op] && op.Call <= z.Deleted && (op.Client == z.Remover || z.Remover == "") {
			return op
		}
	}
	return nil
}

func lastWithoutResult(calls []lin.Op, used map[*lin.Op]bool, z *judging.Znode) *lin.Op {
	var last *lin.Op
	for i := range calls {
		op := &calls[i]
		if isTake(op) && !op.OK() && !used[op] && z.Remover != "" && op.Client == z.Remover &&
			op.Call <= z.Deleted {
			last = op
		}
	}
	return last
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
