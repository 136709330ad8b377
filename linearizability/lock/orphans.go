package lock

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// orphansOf returns the lock's znodes that are neither held nor waiting. A znode of a holder is
// no orphan: the holder's unlock may still remove it.
func orphansOf(t table, left *lin.Leftovers) []judging.Orphan {
	var list []judging.Orphan
	for _, n := range left.Nodes {
		if !judging.Within(t.claims.Path, n.Path) || judging.HasChild(left, n.Path) || isHeld(t,
			n) ||
			isWaiting(t, n, "") || t.holdsAtEnd(maker(t.log, n)) {
			continue
		}
		if n.Owner == 0 && (t.claims.Path == "" || n.Path == t.claims.Path) {
			continue // the directory cannot be told from a znode of the lock
		}
		list = append(list, judging.Orphan{Node: n, Why: leftBy(t, n)})
	}
	return list
}

// maker returns the client that a znode belongs to, or that created it.
func maker(log judging.Log, n lin.NodeAtRest) string {
	if n.Owner != 0 {
		return judging.OwnerClient(log, n)
	}
	for _, z := range log.Znodes {
		if z.Path == n.Path && z.Deleted == judging.Never {
			return z.Creator
		}
	}
	return ""
}
