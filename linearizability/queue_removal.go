package linearizability

import (
	"cmp"
	"slices"
)

// removal is the delete of an element's znode, and the call behind it.
type removal struct {
	element *element
	znode   *znode
	by      *Op // nil if no call of the client fits
}

// findRemovals finds the call behind each removed znode: the take of the same client that returned
// the element, or else the client's last earlier call without a result.
func findRemovals(t queueTable) []removal {
	used := map[*Op]bool{}
	var list []removal
	for _, e := range t.elements {
		for _, z := range e.znodes {
			if z.deleted == never {
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
		return cmp.Compare(a.znode.deleted, b.znode.deleted)
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

func firstUnused(takes []*Op, used map[*Op]bool, z *znode) *Op {
	for _, op := range takes {
		if !used[op] && op.Call <= z.deleted && (op.Client == z.remover || z.remover == "") {
			return op
		}
	}
	return nil
}

func lastWithoutResult(calls []Op, used map[*Op]bool, z *znode) *Op {
	var last *Op
	for i := range calls {
		op := &calls[i]
		if isTake(op) && !op.ok() && !used[op] && z.remover != "" && op.Client == z.remover &&
			op.Call <= z.deleted {
			last = op
		}
	}
	return last
}

// removalOf returns the removal of a znode, and whether it was removed.
func (t queueTable) removalOf(z *znode) (removal, bool) {
	for _, r := range t.removals {
		if r.znode == z {
			return r, true
		}
	}
	return removal{}, false
}

// removalBy returns the removal that a call made, if it made one.
func (t queueTable) removalBy(op *Op) (removal, bool) {
	for _, r := range t.removals {
		if r.by == op {
			return r, true
		}
	}
	return removal{}, false
}
