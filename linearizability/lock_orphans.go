package linearizability

// lockOrphans returns the lock's znodes that are neither held nor waiting. A znode of a holder is
// no orphan: the holder's unlock may still remove it.
func lockOrphans(t lockTable, left *Leftovers) []orphan {
	var list []orphan
	for _, n := range left.Nodes {
		if !within(t.claims.Path, n.Path) || HasChild(left, n.Path) || isHeld(t, n) ||
			isWaiting(t, n, "") || t.holdsAtEnd(maker(t.log, n)) {
			continue
		}
		if n.Owner == 0 && (t.claims.Path == "" || n.Path == t.claims.Path) {
			continue // the directory cannot be told from a znode of the lock
		}
		list = append(list, orphan{n, "was left by " + origin(t, n)})
	}
	return list
}

// maker returns the client that a znode belongs to, or that created it.
func maker(log serverLog, n NodeAtRest) string {
	if n.Owner != 0 {
		return ownerClient(log, n)
	}
	for _, z := range log.znodes {
		if z.path == n.Path && z.deleted == never {
			return z.creator
		}
	}
	return ""
}
